//! Keeps functions of other crates out of the shared library's exports.
//!
//! The crate crc-fast, which object_store uses, has functions for C of its own, and rustc exports all of these.
//! Linkers give a symbol the narrowest visibility that any object file states for it, so these references without a use
//! make them invisible. `test.sh` says if there are others.

macro_rules! hide {
    ($($name:literal)*) => {
        core::arch::global_asm!($(concat!(".weak ", $name), concat!(".hidden ", $name)),*);
    };
}

hide!(
    "crc_fast_checksum"
    "crc_fast_checksum_combine"
    "crc_fast_checksum_combine_with_params"
    "crc_fast_checksum_file"
    "crc_fast_checksum_file_with_params"
    "crc_fast_checksum_with_params"
    "crc_fast_clear_error"
    "crc_fast_crc32_iscsi"
    "crc_fast_crc32_iso_hdlc"
    "crc_fast_crc64_nvme"
    "crc_fast_digest_combine"
    "crc_fast_digest_finalize"
    "crc_fast_digest_finalize_reset"
    "crc_fast_digest_free"
    "crc_fast_digest_get_amount"
    "crc_fast_digest_get_state"
    "crc_fast_digest_new"
    "crc_fast_digest_new_with_init_state"
    "crc_fast_digest_new_with_params"
    "crc_fast_digest_reset"
    "crc_fast_digest_update"
    "crc_fast_error_message"
    "crc_fast_get_calculator_target"
    "crc_fast_get_custom_params"
    "crc_fast_get_last_error"
    "crc_fast_get_version"
);
