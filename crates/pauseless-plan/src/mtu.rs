//! The largest frame that the files of a fabric speak of.

use pauseless_core::unit::Bytes;

use pauseless_dumps::import::ethernet::{Format, recognise, sonic};
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

/// The largest MTU of all ports of SONiC configurations among the files; `None` if none says one.
pub fn of_files(sources: &[Source]) -> Result<Option<Bytes>, Problems> {
    let mut most = None;
    for source in sources {
        most = most.max(of_source(source)?);
    }
    Ok(most)
}

fn of_source(source: &Source) -> Result<Option<Bytes>, Problems> {
    if recognise(&source.text) != Some(Format::SonicConfig) {
        return Ok(None);
    }
    let config = sonic::parse(&source.text).map_err(|problem| source.refuse(problem))?;
    let mtus = config.ports.values().filter_map(|port| port.mtu);
    Ok(mtus.max().map(|mtu| Bytes::new(u64::from(mtu))))
}
