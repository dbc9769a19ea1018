//! `gpus` and `show`: what can be simulated, and with which parameters.

use crate::args::{JsonArgs, ShowArgs};
use crate::output::{data, faint, heading, print};
use crate::table::table;
use serde_json::{Value, json};
use warpwatt_lab::problem::Problem;
use warpwatt_lab::request::{find_gpu, gpu_names};
use warpwatt_lab::store::to_json;
use warpwatt_machine::spec::{Listed, Spec};

/// Lists the presets.
pub fn gpus(args: JsonArgs) -> Result<u8, Problem> {
    let specs: Result<Vec<Spec>, Problem> =
        gpu_names().into_iter().map(|name| Spec::preset(name).map_err(Problem::from_spec)).collect();
    let specs = specs?;
    if args.json {
        data(&to_json(&specs)?)?;
        return Ok(0);
    }
    let row = |s: &Spec| {
        vec![
            s.name.clone(),
            s.sms.to_string(),
            format!("{}", s.core_mhz),
            format!("{}", s.dram_mhz),
            format!("{} × {}", s.schedulers, value_name(&s.scheduler)),
            s.warps_per_sm.to_string(),
            format!("{} KiB", s.shared_bytes_per_sm >> 10),
            format!("{} KiB", s.l1d.bytes() >> 10),
            format!("{} KiB", (s.l2.bytes() * u64::from(s.channels * s.sub_partitions)) >> 10),
            format!("{}", s.channels),
        ]
    };
    let rows: Vec<_> = specs.iter().map(row).collect();
    let header =
        ["GPU", "SMs", "core MHz", "DRAM MHz", "schedulers", "warps/SM", "shared/SM", "L1D/SM", "L2", "channels"];
    print(&table(&header, &rows, 1))?;
    print(&faint(" `warpwatt show NAME` shows every parameter; `--gpu FILE.toml` takes your own.\n"))?;
    Ok(0)
}

/// The name that a choice has in TOML.
fn value_name<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Shows every parameter of a GPU.
pub fn show(args: ShowArgs) -> Result<u8, Problem> {
    let configuration = find_gpu(&args.gpu, &args.set)?;
    let listed = configuration.list();
    let spec = configuration.finish().map_err(Problem::from_spec)?;
    let wanted = args.only.as_deref().map(str::to_lowercase);
    let fits = |l: &&Listed| match &wanted {
        None => true,
        Some(text) => [&l.declaration.name, &l.declaration.meaning, l.declaration.alias]
            .iter()
            .any(|t| t.to_lowercase().contains(text)),
    };
    let listed: Vec<&Listed> = listed.iter().filter(fits).collect();
    if listed.is_empty() {
        let text = args.only.unwrap_or_default();
        return Err(Problem::input("show::nothing", format!("no parameter of {} mentions `{text}`", spec.name)));
    }
    if args.json {
        data(&to_json(&listed.iter().map(|l| entry(l)).collect::<Vec<_>>())?)?;
        return Ok(0);
    }
    let row = |l: &&Listed| {
        let declared = &l.declaration;
        let meaning = match declared.alias {
            "" => declared.meaning.clone(),
            alias => format!("{} ({alias})", declared.meaning),
        };
        vec![declared.name.clone(), l.value.clone(), declared.unit.to_owned(), l.source.clone(), meaning]
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    let text = table(&["parameter", "value", "unit", "source", "meaning (GPGPU-Sim's option)"], &rows, 5);
    print(&format!("{}\n{text}", heading(&spec.name)))?;
    Ok(0)
}

fn entry(l: &Listed) -> Value {
    let declared = &l.declaration;
    let value = serde_json::from_str(&l.value).unwrap_or_else(|_| json!(l.value));
    json!({
        "name": declared.name,
        "value": value,
        "unit": declared.unit,
        "meaning": declared.meaning,
        "legal": declared.kind.legal(),
        "gpgpusim": declared.alias,
        "source": l.source,
    })
}
