//! ZSTD frames without magic number (FORMAT.md §4).

use zstd_safe::{DCtx, DDict, DParameter, FrameFormat};

/// A context for decompression. One thread uses it at a time.
#[derive(Default)]
pub(crate) struct Decompressor(Option<DCtx<'static>>);

impl Decompressor {
    /// Decompresses a frame that holds `length` bytes. `Err` says why it does not.
    pub(crate) fn decompress(
        &mut self,
        frame: &[u8],
        dictionary: Option<&DDict<'static>>,
        length: usize,
        to: &mut Vec<u8>,
    ) -> Result<(), String> {
        if self.0.is_none() {
            let mut context = DCtx::try_create().ok_or("no memory for a ZSTD context")?;
            context
                .set_parameter(DParameter::Format(FrameFormat::Magicless))
                .map_err(|code| zstd_safe::get_error_name(code).to_owned())?;
            self.0 = Some(context);
        }
        let context = self.0.as_mut().expect("created above");
        to.clear();
        to.reserve(length);
        let result = match dictionary {
            Some(dictionary) => context.decompress_using_ddict(to, frame, dictionary),
            None => context.decompress(to, frame),
        };
        match result {
            Ok(written) if written == length && to.len() == length => Ok(()),
            Ok(written) => Err(format!("{written} bytes")),
            Err(code) => Err(zstd_safe::get_error_name(code).to_owned()),
        }
    }
}
