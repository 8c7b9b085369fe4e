//! ZSTD frames without magic number (FORMAT.md §4).

use zstd_safe::{DCtx, DDict, DParameter, FrameFormat};

/// Why a frame was not decompressed.
pub(crate) enum Fault {
    NoMemory,
    /// It holds something else: what was found.
    Wrong(String),
}

impl Fault {
    fn of(code: usize) -> Self {
        Fault::Wrong(zstd_safe::get_error_name(code).to_owned())
    }
}

/// A context for decompression. One thread uses it at a time.
#[derive(Default)]
pub(crate) struct Decompressor(Option<DCtx<'static>>);

impl Decompressor {
    /// Decompresses a frame that holds `length` bytes.
    pub(crate) fn decompress(
        &mut self,
        frame: &[u8],
        dictionary: Option<&DDict<'static>>,
        length: usize,
        to: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if self.0.is_none() {
            let mut context = DCtx::try_create().ok_or(Fault::NoMemory)?;
            context.set_parameter(DParameter::Format(FrameFormat::Magicless)).map_err(Fault::of)?;
            self.0 = Some(context);
        }
        let context = self.0.as_mut().expect("created above");
        to.clear();
        to.try_reserve(length).or_else(|_| to.try_reserve_exact(length)).map_err(|_| Fault::NoMemory)?;
        let result = match dictionary {
            Some(dictionary) => context.decompress_using_ddict(to, frame, dictionary),
            None => context.decompress(to, frame),
        };
        match result {
            Ok(written) if written == length && to.len() == length => Ok(()),
            Ok(written) => Err(Fault::Wrong(format!("{written} bytes"))),
            Err(code) => Err(Fault::of(code)),
        }
    }
}
