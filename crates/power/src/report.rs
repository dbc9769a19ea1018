//! Power of a whole run: by component, by kernel and launch, over time.

use crate::component::{COMPONENTS, Component, LABELS, Label, SM_COMPONENTS};
use crate::energy::{Energy, SamplePower, watts};
use crate::model::PowerModel;
use crate::options::PowerOptions;
use serde::{Deserialize, Serialize};
use warpwatt_machine::stats::RunStats;

/// Average, highest and lowest power over the samples; `None` where no time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watts {
    /// Energy over time.
    pub average: Option<f64>,
    /// Of the sample with the highest.
    pub max: Option<f64>,
    /// Of the sample with the lowest.
    pub min: Option<f64>,
}

/// One component.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentPower {
    /// Component.
    pub component: Component,
    /// Joules by cause.
    pub joules: Energy,
    /// Power.
    pub watts: Watts,
    /// Share of the total energy.
    pub share: Option<f64>,
}

/// One of AccelWattch's components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelPower {
    /// Label.
    pub label: Label,
    /// Joules.
    pub joules: f64,
    /// Power.
    pub watts: Watts,
}

/// Power over a stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Length.
    pub seconds: f64,
    /// Joules by cause.
    pub joules: Energy,
    /// Power of the chip.
    pub watts: Watts,
    /// By component, in order.
    pub components: Vec<ComponentPower>,
    /// By AccelWattch label, in order.
    pub labels: Vec<LabelPower>,
}

impl Summary {
    /// A component's line.
    pub fn component(&self, component: Component) -> &ComponentPower {
        &self.components[component as usize]
    }

    /// Share of the total that some components have together.
    pub fn share(&self, components: &[Component]) -> Option<f64> {
        components.iter().map(|&component| self.component(component).share).sum()
    }
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchPower {
    /// Its number.
    pub launch: u32,
    /// Its kernel (empty if the run does not know the launch).
    pub kernel: String,
    /// Its power.
    pub power: Summary,
}

/// All launches of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelPower {
    /// Kernel.
    pub kernel: String,
    /// Its launches.
    pub launches: u32,
    /// Their power.
    pub power: Summary,
}

/// Power in one sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerPoint {
    /// Start, femtoseconds.
    pub start: u64,
    /// End, femtoseconds.
    pub end: u64,
    /// Launch.
    pub launch: u32,
    /// W of the chip.
    pub watts: f64,
    /// W by [`Component`], all SMs together.
    pub components: Vec<f64>,
    /// W of each SM by its components.
    pub sms: Vec<[f64; SM_COMPONENTS]>,
}

impl PowerPoint {
    /// W of one SM.
    pub fn sm_watts(&self, sm: usize) -> f64 {
        self.sms.get(sm).map_or(0.0, |parts| parts.iter().sum())
    }
}

/// Power of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerReport {
    /// Energy table.
    pub table: String,
    /// Options, the V/f model resolved.
    pub options: PowerOptions,
    /// Whole run.
    pub total: Summary,
    /// By kernel, in order of first launch.
    pub kernels: Vec<KernelPower>,
    /// By launch, in order.
    pub launches: Vec<LaunchPower>,
    /// Over time; samples of no length are left out.
    pub series: Vec<PowerPoint>,
}

/// Energy and extremes while samples are added up.
#[derive(Clone, Default)]
struct Tally {
    seconds: f64,
    components: [Energy; COMPONENTS],
    labels: [f64; LABELS],
    chip: Extremes,
    component_extremes: [Extremes; COMPONENTS],
    label_extremes: [Extremes; LABELS],
}

#[derive(Clone, Copy, Default)]
struct Extremes {
    max: Option<f64>,
    min: Option<f64>,
}

impl Extremes {
    fn add(&mut self, watts: Option<f64>) {
        let Some(watts) = watts else { return };
        self.max = Some(self.max.map_or(watts, |max| max.max(watts)));
        self.min = Some(self.min.map_or(watts, |min| min.min(watts)));
    }

    fn with_average(self, average: Option<f64>) -> Watts {
        Watts { average, max: self.max, min: self.min }
    }
}

impl Tally {
    fn add(&mut self, sample: &SamplePower) {
        let seconds = sample.seconds();
        self.seconds += seconds;
        self.chip.add(sample.watts());
        for (at, own) in sample.components().into_iter().enumerate() {
            self.components[at] += own;
            self.component_extremes[at].add(watts(own.total(), seconds));
        }
        for (at, own) in sample.labels.into_iter().enumerate() {
            self.labels[at] += own;
            self.label_extremes[at].add(watts(own, seconds));
        }
    }

    fn summary(&self) -> Summary {
        let joules: Energy = self.components.iter().copied().sum();
        let all = joules.total();
        let component = |(&component, (&joules, extremes)): (&Component, (&Energy, &Extremes))| ComponentPower {
            component,
            joules,
            watts: extremes.with_average(watts(joules.total(), self.seconds)),
            share: (all > 0.0).then(|| joules.total() / all),
        };
        let label = |(&label, (&joules, extremes)): (&Label, (&f64, &Extremes))| LabelPower {
            label,
            joules,
            watts: extremes.with_average(watts(joules, self.seconds)),
        };
        Summary {
            seconds: self.seconds,
            joules,
            watts: self.chip.with_average(watts(all, self.seconds)),
            components: Component::ALL
                .iter()
                .zip(self.components.iter().zip(&self.component_extremes))
                .map(component)
                .collect(),
            labels: Label::ALL.iter().zip(self.labels.iter().zip(&self.label_extremes)).map(label).collect(),
        }
    }
}

impl PowerModel {
    /// The power of a run.
    pub fn run(&self, run: &RunStats) -> PowerReport {
        let kernel =
            |launch: u32| run.launches.get(launch as usize).map_or_else(String::new, |launch| launch.kernel.clone());
        let mut total = Tally::default();
        let mut launches: Vec<(u32, Tally)> = Vec::new();
        let mut kernels: Vec<(String, Vec<u32>, Tally)> = Vec::new();
        let mut series = Vec::new();
        for sample in &run.samples {
            let power = self.sample(sample);
            total.add(&power);
            series.extend(point(&power));

            let number = sample.launch;
            let at = launches.iter().position(|&(launch, _)| launch == number).unwrap_or_else(|| {
                launches.push((number, Tally::default()));
                launches.len() - 1
            });
            launches[at].1.add(&power);

            let name = kernel(number);
            let at = kernels.iter().position(|(kernel, ..)| *kernel == name).unwrap_or_else(|| {
                kernels.push((name, Vec::new(), Tally::default()));
                kernels.len() - 1
            });
            let (_, numbers, tally) = &mut kernels[at];
            tally.add(&power);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        launches.sort_by_key(|&(launch, _)| launch);
        PowerReport {
            table: self.table.name.clone(),
            options: PowerOptions { vf_model: Some(self.vf_model()), ..self.options },
            total: total.summary(),
            kernels: kernels
                .into_iter()
                .map(|(kernel, numbers, tally)| KernelPower {
                    kernel,
                    launches: numbers.len() as u32,
                    power: tally.summary(),
                })
                .collect(),
            launches: launches
                .into_iter()
                .map(|(launch, tally)| LaunchPower { launch, kernel: kernel(launch), power: tally.summary() })
                .collect(),
            series,
        }
    }
}

fn point(sample: &SamplePower) -> Option<PowerPoint> {
    let seconds = sample.seconds();
    Some(PowerPoint {
        start: sample.start,
        end: sample.end,
        launch: sample.launch,
        watts: sample.watts()?,
        components: sample.components().iter().map(|energy| energy.total() / seconds).collect(),
        sms: sample.sms.iter().map(|sm| sm.map(|energy| energy.total() / seconds)).collect(),
    })
}
