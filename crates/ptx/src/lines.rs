//! Lines of a source text, for many look-ups.

/// Where the lines of a text begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Indexes a text.
    pub fn new(source: &str) -> Lines {
        let ends = source.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines { starts: std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect() }
    }

    /// The line (from 1) of a byte offset.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }
}
