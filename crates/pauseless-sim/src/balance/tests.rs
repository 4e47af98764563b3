use super::*;

/// What the ports of a switch are said to have.
#[derive(Default)]
struct Ports {
    waiting: Vec<u64>,
    stopped: Vec<bool>,
    sent: Vec<u64>,
}

impl Egresses for Ports {
    fn backlog(&self, port: PortId) -> Backlog {
        let waiting = self.waiting.get(port.index()).copied().unwrap_or(0);
        Backlog { waiting: Bytes::new(waiting), is_sending: false }
    }

    fn is_stopped(&self, port: PortId) -> bool {
        self.stopped.get(port.index()).copied().unwrap_or(false)
    }

    fn sent(&self, port: PortId) -> Bytes {
        Bytes::new(self.sent.get(port.index()).copied().unwrap_or(0))
    }

    fn line(&self, _: PortId) -> Rate {
        Rate::gbps(8)
    }
}

const FOUR: [PortId; 4] = [PortId(3), PortId(5), PortId(6), PortId(7)];

fn to(group: u32) -> Choosing {
    Choosing { group: GroupId(group), flow: FlowId(0), is_answer: false }
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// How often each of the ports 0 to 7 is chosen for so many packets at one instant.
fn counts(rule: Rule, packets: usize, ports: &[PortId], state: &Ports) -> [usize; 8] {
    let mut balancer = Balancer::new(rule, 1);
    let mut counts = [0; 8];
    for _ in 0..packets {
        let port = balancer.choose(at(1), to(0), ports, state).unwrap();
        counts[port.index()] += 1;
    }
    counts
}

fn least_queue(compare: Compare) -> LeastQueue {
    LeastQueue { full: Bytes::kb(100), read_every: Span::ZERO, compare }
}

#[test]
//= protocols load-balancing-rules type=test
fn random_choices_follow_the_weights() {
    let state = Ports::default();
    let even = counts(Rule::Random, 10_000, &FOUR, &state);
    // 2500 each, standard deviation 43.
    assert!(FOUR.iter().all(|port| (2_300..2_700).contains(&even[port.index()])), "{even:?}");
    assert_eq!(even.iter().sum::<usize>(), 10_000);
    let [one, other, ..] = FOUR;
    let weighted = counts(Rule::Random, 10_000, &[one, one, one, other], &state);
    assert!((7_300..7_700).contains(&weighted[one.index()]), "{weighted:?}");
}

#[test]
fn one_next_hop_is_no_choice_and_none_is_none() {
    let mut balancer = Balancer::new(Rule::Random, 1);
    let untouched = balancer.dither.choice(1_000_000);
    let state = Ports::default();
    assert_eq!(balancer.choose(at(0), to(0), &FOUR[..1], &state), Some(FOUR[0]));
    assert_eq!(balancer.choose(at(0), to(0), &[], &state), None);
    assert_eq!(balancer.dither.choice(1_000_000), untouched);
    assert_eq!(Balancer::new(Rule::FlowHash, 1).choose(at(0), to(0), &FOUR, &state), None);
}

#[test]
fn every_round_is_another_order_of_all_next_hops() {
    let mut balancer = Balancer::new(Rule::RoundRobin, 1);
    let state = Ports::default();
    let mut orders = std::collections::BTreeSet::new();
    for _ in 0..500 {
        // Another set in between has a round of its own, and another destination shares this one.
        let _ = balancer.choose(at(0), to(0), &FOUR[1..], &state);
        let round = (0..4).map(|group| balancer.choose(at(0), to(group), &FOUR, &state).unwrap());
        let round = Vec::from_iter(round);
        let mut sorted = round.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, FOUR);
        orders.insert(round);
    }
    assert_eq!(orders.len(), 24);
}

#[test]
fn rounds_have_the_weights_and_another_set_has_others() {
    let state = Ports::default();
    let [one, other, third, _] = FOUR;
    let weighted = counts(Rule::RoundRobin, 400, &[one, one, other, one], &state);
    assert_eq!((weighted[one.index()], weighted[other.index()]), (300, 100));
    let mut balancer = Balancer::new(Rule::RoundRobin, 1);
    let _ = balancer.choose(at(0), to(0), &FOUR, &state);
    let pair = [other, third];
    let mut after = [(); 2].map(|()| balancer.choose(at(0), to(0), &pair, &state).unwrap());
    after.sort_unstable();
    assert_eq!(after, pair);
}

#[test]
fn a_flowlet_stays_until_it_pauses_or_its_port_is_gone() {
    let rule = Flowlet { gap: Span::us(10), choice: FlowletChoice::Random };
    let mut balancer = Balancer::new(Rule::Flowlet(rule), 1);
    let state = Ports::default();
    let mut choose = |us, ports: &[PortId]| balancer.choose(at(us), to(0), ports, &state).unwrap();
    let first = choose(0, &FOUR);
    assert!((1..40).all(|packet| choose(9 * packet, &FOUR) == first));
    let others = Vec::from_iter(FOUR.into_iter().filter(|port| *port != first));
    let second = choose(352, &others);
    assert_ne!(second, first);
    assert_eq!(choose(353, &FOUR), second);
    let later = Vec::from_iter((0..100).map(|count| choose(1_000 + 10 * count, &FOUR)));
    let changes = later.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // Three of four draws change the port: 74 expected, standard deviation 4.3.
    assert!((57..92).contains(&changes), "{changes}");
}

#[test]
fn a_flowlet_can_begin_with_the_least_loaded_port() {
    let rule = Flowlet { gap: Span::us(10), choice: FlowletChoice::LeastLoaded };
    let mut balancer = Balancer::new(Rule::Flowlet(rule), 1);
    // 8 Gb/s for 250 us are 250 KB, of which the levels are eighths.
    let mut state = Ports { sent: vec![125_000; 8], ..Ports::default() };
    state.sent[FOUR[2].index()] = 31_249;
    assert_eq!(balancer.choose(at(1), to(0), &FOUR, &state), Some(FOUR[2]));
    // 1 ms later little is left of either: 125 KB * 0.8^20 are less than an eighth.
    let later = |flow| Choosing { flow: FlowId(flow), ..to(0) };
    let found = (1..200).map(|flow| balancer.choose(at(1_001), later(flow), &FOUR, &state));
    let found = std::collections::BTreeSet::from_iter(found);
    assert_eq!(found.len(), 4);
}

#[test]
fn drill_takes_the_shortest_of_its_samples_and_remembers_it() {
    let mut state = Ports { waiting: vec![9_000; 8], ..Ports::default() };
    state.waiting[FOUR[1].index()] = 1_000;
    let drill = |samples, memory| Rule::Drill(Drill { samples, memory });
    // Whoever looks at all of them finds it at once.
    assert_eq!(counts(drill(4, 0), 100, &FOUR, &state)[FOUR[1].index()], 100);
    // Two of four without memory find it every other time: 500, standard deviation 16.
    let found = counts(drill(2, 0), 1_000, &FOUR, &state)[FOUR[1].index()];
    assert!((440..560).contains(&found), "{found}");
    // With memory it is not lost again.
    let found = counts(drill(2, 1), 1_000, &FOUR, &state)[FOUR[1].index()];
    assert!(found > 980, "{found}");
    // What is remembered for one destination says nothing of another.
    let mut balancer = Balancer::new(drill(1, 1), 1);
    for _ in 0..100 {
        let _ = balancer.choose(at(0), to(0), &FOUR, &state);
    }
    assert_eq!(balancer.best.len(), 1);
    assert_eq!(balancer.best[&GroupId(0)], [FOUR[1]]);
}

#[test]
fn the_least_queue_is_known_by_its_grade() {
    let rule = Rule::LeastQueue(least_queue(Compare::Queue));
    // Just below and at 5 % of 100 KB, at 10 and at 20 %.
    let mut state = Ports { waiting: vec![0; 8], ..Ports::default() };
    let mut taken = |waiting: [u64; 4]| {
        for (port, bytes) in FOUR.iter().zip(waiting) {
            state.waiting[port.index()] = bytes;
        }
        let counts = counts(rule, 1_000, &FOUR, &state);
        FOUR.map(|port| counts[port.index()] > 0)
    };
    assert_eq!(taken([0, 4_999, 5_000, 9_999]), [true, true, false, false]);
    assert_eq!(taken([5_000, 10_000, 9_999, 20_000]), [true, false, true, false]);
    assert_eq!(taken([10_000, 19_999, 20_000, 90_000]), [true, true, false, false]);
    assert_eq!(taken([20_000, 90_000, 40_000, 30_000]), [true; 4]);
}

#[test]
fn a_grade_may_be_as_old_as_it_may() {
    let rule = LeastQueue { read_every: Span::us(2), ..least_queue(Compare::Queue) };
    let mut balancer = Balancer::new(Rule::LeastQueue(rule), 1);
    let pair = &FOUR[..2];
    let mut state = Ports { waiting: vec![0; 8], ..Ports::default() };
    state.waiting[pair[0].index()] = 50_000;
    assert_eq!(balancer.choose(at(5), to(0), pair, &state), Some(pair[1]));
    state.waiting.swap(pair[0].index(), pair[1].index());
    assert_eq!(balancer.choose(at(6), to(0), pair, &state), Some(pair[1]));
    assert_eq!(balancer.choose(at(7), to(0), pair, &state), Some(pair[0]));
}

#[test]
fn a_stopped_port_is_the_last_choice_and_load_decides_between_equal_queues() {
    let rule = Rule::LeastQueue(least_queue(Compare::PauseQueueLoad));
    let mut state = Ports { waiting: vec![0; 8], stopped: vec![false; 8], sent: vec![0; 8] };
    for port in &FOUR[..3] {
        state.stopped[port.index()] = true;
    }
    state.waiting[FOUR[3].index()] = 90_000;
    assert_eq!(counts(rule, 10, &FOUR, &state)[FOUR[3].index()], 10);
    state.stopped.fill(false);
    let mut balancer = Balancer::new(rule, 1);
    // 8 Gb/s for 30 us are 30 KB.
    for (port, sent) in FOUR.iter().zip([15_000, 4_499, 14_999, 0]) {
        state.sent[port.index()] = sent;
    }
    let all = FOUR.map(|port| balancer.loads.recent(at(30), port, &state));
    assert_eq!(all, [3, 1, 2, 0]);
    // The port with a long queue is left out first.
    assert_eq!(balancer.choose(at(31), to(0), &FOUR, &state), Some(FOUR[1]));
}
