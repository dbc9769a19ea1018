//! Equalizer's governor: every epoch each SM decides, then the frequency manager counts the votes.

use super::algorithm::{KINDS, Kind, Objective, Request, decide, majority, next_step, requests};
use super::blocks::Blocks;
use super::{AtLaunch, Parameters};
use crate::steps::Steps;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use warpwatt_machine::hooks::{ChipView, GovernorHook, Hook, LaunchView, Order, Report};

/// The governor of a chip.
#[derive(Debug)]
pub struct Governor {
    objective: Objective,
    parameters: Parameters,
    sms: usize,
    sm_steps: Steps,
    memory_steps: Steps,
    state: State,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    /// CTAs of each SM, by kernel and by how many fit: the same kernel may come with other blocks.
    blocks: BTreeMap<(String, u32), Vec<Blocks>>,
    epochs: u64,
    /// SM-epochs by kind of decision.
    kinds: [u64; KINDS.len()],
    /// Changes of the number of CTAs: fewer, more.
    fewer: u64,
    more: u64,
    /// Steps of the SM and of the memory domain.
    steps: [u64; 2],
    last: Last,
}

/// The last epoch, for the log.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Last {
    /// Means over SMs and samples: active, waiting, X_alu, X_mem.
    warps: [f64; 4],
    /// SMs by kind of decision.
    kinds: [u32; KINDS.len()],
    steps: [i32; 2],
}

impl Governor {
    /// For a chip of so many SMs.
    pub fn new(
        objective: Objective,
        parameters: Parameters,
        sms: usize,
        sm_steps: Steps,
        memory_steps: Steps,
    ) -> Governor {
        Governor { objective, parameters, sms, sm_steps, memory_steps, state: State::default() }
    }

    fn blocks(&mut self, launch: &LaunchView<'_>) -> &mut Vec<Blocks> {
        let fit = vec![Blocks::new(launch.ctas_per_sm); self.sms];
        self.state.blocks.entry((launch.kernel.to_owned(), launch.ctas_per_sm)).or_insert(fit)
    }

    /// Every SM's decision; its number of CTAs may change.
    fn decisions(&mut self, chip: &ChipView<'_>, orders: &mut Vec<Order>) -> Vec<Kind> {
        let Parameters { hysteresis, saturated, blocks, .. } = self.parameters;
        let (w_cta, most) = (chip.launch.warps_per_cta, chip.launch.ctas_per_sm);
        let kinds: Vec<Kind> = chip.sms.iter().map(|sm| decide(&sm.sampled, w_cta, saturated)).collect();
        let (mut fewer, mut more) = (0, 0);
        for (sm, (own, kind)) in self.blocks(&chip.launch).iter_mut().zip(&kinds).enumerate() {
            if blocks && own.epoch(kind.blocks(), most, hysteresis) {
                fewer += (kind.blocks() < 0) as u64;
                more += (kind.blocks() > 0) as u64;
                orders.push(Order::CtaLimit { sm, limit: own.limit });
            }
        }
        self.state.fewer += fewer;
        self.state.more += more;
        kinds
    }

    /// The frequency manager: the vote on each domain, and the step that follows.
    fn vote(&mut self, kinds: &[Kind], present: [i32; 2]) -> [i32; 2] {
        let mut votes = [[0; 3]; 2];
        for action in kinds.iter().filter_map(|kind| kind.action()) {
            for (votes, request) in votes.iter_mut().zip(requests(self.objective, action)) {
                votes[request as usize] += 1;
            }
        }
        let step = |domain: usize| {
            let decision: Option<Request> = majority(votes[domain], kinds.len() as u32);
            next_step(present[domain], decision, self.parameters.maintain)
        };
        [step(0), step(1)]
    }
}

impl Hook for Governor {
    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), String> {
        self.state = postcard::from_bytes(state).map_err(|e| format!("equalizer: {e}"))?;
        Ok(())
    }

    fn report(&self, _: u64, report: &mut Report) {
        let s = &self.state;
        report.add("equalizer.epochs", s.epochs);
        for ((_, name), count) in KINDS.iter().zip(s.kinds) {
            report.add(&format!("equalizer.{name}"), count);
        }
        let changes = [("fewer_ctas", s.fewer), ("more_ctas", s.more), ("sm_steps", s.steps[0])];
        changes.iter().for_each(|(name, count)| report.add(&format!("equalizer.{name}"), *count));
        report.add("equalizer.memory_steps", s.steps[1]);
    }
}

impl GovernorHook for Governor {
    fn interval(&self) -> u64 {
        self.parameters.epoch.into()
    }

    fn sampling(&self) -> Option<u64> {
        Some(self.parameters.sample.into())
    }

    fn launch(&mut self, launch: &LaunchView<'_>) -> Vec<Order> {
        if !self.parameters.blocks {
            return Vec::new();
        }
        if self.parameters.at_launch == AtLaunch::Reset {
            self.state.blocks.clear();
        }
        let blocks = self.blocks(launch);
        blocks.iter().enumerate().map(|(sm, own)| Order::CtaLimit { sm, limit: own.limit }).collect()
    }

    fn decide(&mut self, chip: &ChipView<'_>) -> Vec<Order> {
        let mut orders = Vec::new();
        let kinds = self.decisions(chip, &mut orders);
        let present = [self.sm_steps.step(chip.core_mhz), self.memory_steps.step(chip.dram_mhz)];
        let next = if self.parameters.frequency { self.vote(&kinds, present) } else { present };
        if next[0] != present[0] {
            orders.push(Order::CoreMhz(self.sm_steps.clock(next[0])));
        }
        if next[1] != present[1] {
            orders.push(Order::DramMhz(self.memory_steps.clock(next[1])));
        }
        let s = &mut self.state;
        s.epochs += 1;
        for (count, (next, present)) in s.steps.iter_mut().zip(next.iter().zip(present)) {
            *count += (*next != present) as u64;
        }
        s.last = Last { steps: next, ..Last::default() };
        for kind in &kinds {
            s.kinds[*kind as usize] += 1;
            s.last.kinds[*kind as usize] += 1;
        }
        let samples = chip.sms.iter().map(|sm| sm.sampled.samples).sum::<u64>().max(1) as f64;
        let mean = |f: fn(&warpwatt_machine::hooks::WarpSums) -> u64| {
            chip.sms.iter().map(|sm| f(&sm.sampled)).sum::<u64>() as f64 / samples
        };
        s.last.warps = [mean(|w| w.active), mean(|w| w.waiting), mean(|w| w.excess_alu), mean(|w| w.excess_mem)];
        orders
    }

    fn explain(&self, note: &mut dyn FnMut(&str, f64)) {
        let last = &self.state.last;
        for (name, value) in ["active", "waiting", "x_alu", "x_mem"].iter().zip(last.warps) {
            note(name, value);
        }
        for ((_, name), count) in KINDS.iter().zip(last.kinds) {
            note(&format!("sms_{name}"), count.into());
        }
        note("sm_step", last.steps[0].into());
        note("memory_step", last.steps[1].into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwatt_machine::hooks::{SmView, WarpSums};
    use warpwatt_machine::spec::Spec;

    const SMS: usize = 15;

    fn governor(objective: Objective, parameters: Parameters) -> Governor {
        let spec = Spec::preset("gtx480-equalizer").unwrap();
        Governor::new(objective, parameters, SMS, Steps::of_sms(&spec), Steps::of_memory(&spec))
    }

    fn kernel(kernel: &str) -> LaunchView<'_> {
        LaunchView { index: 0, kernel, ctas: 1000, warps_per_cta: 8, ctas_per_sm: 6 }
    }

    /// An SM whose averages over 32 samples are these.
    fn sm(active: u64, waiting: u64, alu: u64, mem: u64) -> SmView {
        let [active, waiting, excess_alu, excess_mem] = [active, waiting, alu, mem].map(|warps| 32 * warps);
        SmView { sampled: WarpSums { samples: 32, active, waiting, excess_alu, excess_mem }, ..SmView::default() }
    }

    fn epoch(g: &mut Governor, clocks: (f64, f64), sms: &[SmView]) -> Vec<Order> {
        let launch = kernel("k");
        g.decide(&ChipView {
            time: 0,
            cycle: 0,
            launch,
            core_mhz: clocks.0,
            dram_mhz: clocks.1,
            sms,
            activity: &[],
            futures: &[],
        })
    }

    /// So many SMs short of memory, of compute, without work; the rest degenerate.
    fn chip(memory: usize, compute: usize, idle: usize) -> Vec<SmView> {
        let mut sms = vec![sm(48, 10, 0, 5); memory];
        sms.extend(vec![sm(48, 10, 12, 0); compute]);
        sms.extend(vec![sm(0, 0, 0, 0); idle]);
        sms.resize(SMS, sm(48, 10, 0, 0));
        sms
    }

    #[test]
    fn the_frequency_manager_follows_a_strict_majority() {
        use Order::{CoreMhz, DramMhz};
        let once =
            |objective, clocks, sms: &[SmView]| epoch(&mut governor(objective, Parameters::default()), clocks, sms);
        let (normal, fast) = ((700.0, 924.0), Objective::Performance);
        assert_eq!(once(fast, normal, &chip(8, 7, 0)), [DramMhz(1062.6)]);
        assert_eq!(once(fast, normal, &chip(7, 8, 0)), [CoreMhz(805.0)]);
        assert_eq!(once(fast, normal, &chip(7, 7, 0)), []);
        // SMs without work vote for compute (line 21).
        assert_eq!(once(fast, normal, &chip(0, 4, 4)), [CoreMhz(805.0)]);
        assert_eq!(once(Objective::Energy, normal, &chip(8, 0, 0)), [CoreMhz(595.0)]);
        assert_eq!(once(Objective::Energy, normal, &chip(0, 8, 0)), [DramMhz(785.4)]);
        // From the other end it takes two epochs, and "maintain" leads back to normal.
        assert_eq!(once(fast, (595.0, 924.0), &chip(0, 8, 0)), [CoreMhz(700.0)]);
        assert_eq!(once(fast, (805.0, 924.0), &chip(8, 0, 0)), [CoreMhz(700.0), DramMhz(1062.6)]);
        assert_eq!(once(fast, (805.0, 1062.6), &chip(0, 0, 0)), []);
        let hold = Parameters { maintain: super::super::algorithm::Maintain::Hold, ..Parameters::default() };
        let mut g = governor(fast, hold);
        assert_eq!(epoch(&mut g, (805.0, 924.0), &chip(8, 0, 0)), [DramMhz(1062.6)]);
    }

    #[test]
    fn ctas_change_after_three_epochs_and_stay_with_their_kernel() {
        for at_launch in [AtLaunch::Keep, AtLaunch::Reset] {
            let mut g =
                governor(Objective::Energy, Parameters { frequency: false, at_launch, ..Parameters::default() });
            let limits = |orders: Vec<Order>| -> Vec<u32> {
                let limit = |o: &Order| match o {
                    Order::CtaLimit { limit, .. } => Some(*limit),
                    _ => None,
                };
                orders.iter().filter_map(limit).collect()
            };
            assert_eq!(limits(g.launch(&kernel("k"))), [6; SMS]);
            // One SM thrashes, the others do not mind.
            let mut sms = chip(0, 0, 0);
            sms[3] = sm(48, 10, 0, 9);
            assert_eq!([epoch(&mut g, (700.0, 924.0), &sms), epoch(&mut g, (700.0, 924.0), &sms)], [vec![], vec![]]);
            assert_eq!(epoch(&mut g, (700.0, 924.0), &sms), [Order::CtaLimit { sm: 3, limit: 5 }]);
            assert_eq!(limits(g.launch(&kernel("other"))), [6; SMS]);
            let again = limits(g.launch(&kernel("k")));
            assert_eq!(again[3], if at_launch == AtLaunch::Keep { 5 } else { 6 });
            let smaller = LaunchView { ctas_per_sm: 4, ..kernel("k") };
            assert_eq!(limits(g.launch(&smaller)), [4; SMS]);
            // That few of its large CTAs fit is no reason to let fewer of its small ones run.
            let larger = LaunchView { ctas_per_sm: 8, ..kernel("k") };
            assert_eq!(limits(g.launch(&larger)), [8; SMS]);
        }
    }
}
