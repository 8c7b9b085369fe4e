//! Names the shared library, so that programs find it by its version and not by the path of the build.

/// Changes when programs that were built with an earlier header no longer work.
const ABI: u32 = 1;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbsdb.so.{ABI}");
        }
        Ok("macos" | "ios") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libbsdb.{ABI}.dylib");
        }
        _ => {}
    }
}
