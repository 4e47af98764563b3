//! Strongly connected components, and a shortest cycle in each.

use std::collections::VecDeque;

use super::graph::Graph;

/// Whether there is a cycle: removes vertices that nothing waits for until none is left.
pub(crate) fn is_cyclic(graph: &Graph) -> bool {
    let count = graph.vertex_count() as u32;
    let mut waiting = vec![0u32; count as usize];
    for vertex in 0..count {
        for &next in graph.successors(vertex) {
            waiting[next as usize] += 1;
        }
    }
    let mut free = Vec::from_iter((0..count).filter(|vertex| waiting[*vertex as usize] == 0));
    let mut taken = 0;
    while let Some(vertex) = free.pop() {
        taken += 1;
        for &next in graph.successors(vertex) {
            waiting[next as usize] -= 1;
            if waiting[next as usize] == 0 {
                free.push(next);
            }
        }
    }
    taken < count
}

/// Marks the vertices from which a cycle can be reached: takes away those that wait for nothing until
/// none is left.
pub(crate) fn reach_cycles(graph: &Graph) -> Vec<bool> {
    let count = graph.vertex_count();
    // The predecessors of each vertex, as lists one after the other.
    let mut starts = vec![0u32; count + 1];
    for vertex in 0..count as u32 {
        for &next in graph.successors(vertex) {
            starts[next as usize + 1] += 1;
        }
    }
    for vertex in 0..count {
        starts[vertex + 1] += starts[vertex];
    }
    let mut fill = starts.clone();
    let mut before = vec![0u32; starts[count] as usize];
    let mut awaited = vec![0u32; count];
    for vertex in 0..count as u32 {
        awaited[vertex as usize] = graph.successors(vertex).len() as u32;
        for &next in graph.successors(vertex) {
            before[fill[next as usize] as usize] = vertex;
            fill[next as usize] += 1;
        }
    }
    let mut is_left: Vec<bool> = awaited.iter().map(|awaited| *awaited > 0).collect();
    let is_free = |vertex: &u32| awaited[*vertex as usize] == 0;
    let mut free = Vec::from_iter((0..count as u32).filter(is_free));
    while let Some(vertex) = free.pop() {
        let places = starts[vertex as usize] as usize..starts[vertex as usize + 1] as usize;
        for &waiting in &before[places] {
            awaited[waiting as usize] -= 1;
            if awaited[waiting as usize] == 0 {
                is_left[waiting as usize] = false;
                free.push(waiting);
            }
        }
    }
    is_left
}

/// The strongly connected components of more than one vertex: the largest first, then by their
/// lowest vertex. (Tarjan 1972, without recursion.)
pub(crate) fn strong(graph: &Graph) -> Vec<Vec<u32>> {
    let count = graph.vertex_count();
    let mut search = Tarjan {
        graph,
        order: vec![0; count],
        low: vec![0; count],
        is_open: vec![false; count],
        open: Vec::new(),
        next_order: 1,
        found: Vec::new(),
    };
    for vertex in 0..count as u32 {
        if search.order[vertex as usize] == 0 {
            search.explore(vertex);
        }
    }
    let mut found = search.found;
    found.sort_by_key(|component| (std::cmp::Reverse(component.len()), component[0]));
    found
}

struct Tarjan<'g> {
    graph: &'g Graph,
    /// The order in which each vertex was found, from 1; 0 for not yet.
    order: Vec<u32>,
    low: Vec<u32>,
    is_open: Vec<bool>,
    open: Vec<u32>,
    next_order: u32,
    found: Vec<Vec<u32>>,
}

impl Tarjan<'_> {
    fn explore(&mut self, start: u32) {
        self.meet(start);
        let mut path = vec![(start, 0)];
        while let Some((vertex, at)) = path.last_mut() {
            let vertex = *vertex;
            let Some(&next) = self.graph.successors(vertex).get(*at) else {
                path.pop();
                self.leave(vertex);
                if let Some((before, _)) = path.last() {
                    let low = self.low[vertex as usize];
                    let before = &mut self.low[*before as usize];
                    *before = (*before).min(low);
                }
                continue;
            };
            *at += 1;
            if self.order[next as usize] == 0 {
                self.meet(next);
                path.push((next, 0));
            } else if self.is_open[next as usize] {
                let low = &mut self.low[vertex as usize];
                *low = (*low).min(self.order[next as usize]);
            }
        }
    }

    fn meet(&mut self, vertex: u32) {
        self.order[vertex as usize] = self.next_order;
        self.low[vertex as usize] = self.next_order;
        self.next_order += 1;
        self.is_open[vertex as usize] = true;
        self.open.push(vertex);
    }

    /// Completes the component of which `vertex` was found first, if it was.
    fn leave(&mut self, vertex: u32) {
        if self.low[vertex as usize] != self.order[vertex as usize] {
            return;
        }
        let first = self.open.iter().rposition(|open| *open == vertex);
        let mut component =
            self.open.split_off(first.expect("a vertex is on the stack until it is left"));
        for member in &component {
            self.is_open[*member as usize] = false;
        }
        if component.len() > 1 {
            component.sort_unstable();
            self.found.push(component);
        }
    }
}

/// A shortest cycle of a component, beginning at its lowest vertex; of several the one that a
/// search from the lowest vertex finds first.
pub(crate) fn shortest_cycle(graph: &Graph, component: &[u32]) -> Vec<u32> {
    let count = graph.vertex_count();
    let mut is_member = vec![false; count];
    for vertex in component {
        is_member[*vertex as usize] = true;
    }
    let mut search = CycleSearch {
        graph,
        is_member,
        before: vec![NOBODY; count],
        depth: vec![0; count],
        touched: Vec::new(),
        queue: VecDeque::new(),
    };
    let mut best: Option<Vec<u32>> = None;
    for &start in component {
        let limit = best.as_ref().map_or(u32::MAX, |best| best.len() as u32);
        if limit == 2 {
            break;
        }
        best = search.shorter(start, limit).or(best);
    }
    let mut cycle = best.expect("a component of several vertices has a cycle");
    let lowest = (0..cycle.len()).min_by_key(|at| cycle[*at]);
    cycle.rotate_left(lowest.unwrap_or(0));
    cycle
}

struct CycleSearch<'g> {
    graph: &'g Graph,
    is_member: Vec<bool>,
    before: Vec<u32>,
    depth: Vec<u32>,
    touched: Vec<u32>,
    queue: VecDeque<u32>,
}

impl CycleSearch<'_> {
    /// A shortest cycle through `start`, if it has fewer than `limit` vertices.
    fn shorter(&mut self, start: u32, limit: u32) -> Option<Vec<u32>> {
        for vertex in self.touched.drain(..) {
            self.before[vertex as usize] = NOBODY;
        }
        self.queue.clear();
        self.queue.push_back(start);
        self.depth[start as usize] = 1;
        while let Some(vertex) = self.queue.pop_front() {
            let depth = self.depth[vertex as usize];
            if depth >= limit {
                return None;
            }
            for &next in self.graph.successors(vertex) {
                if next == start {
                    return Some(self.path_to(vertex, start));
                }
                if self.is_member[next as usize] && self.before[next as usize] == NOBODY {
                    self.before[next as usize] = vertex;
                    self.depth[next as usize] = depth + 1;
                    self.touched.push(next);
                    self.queue.push_back(next);
                }
            }
        }
        None
    }

    fn path_to(&self, end: u32, start: u32) -> Vec<u32> {
        let mut path = vec![end];
        let mut at = end;
        while at != start {
            at = self.before[at as usize];
            path.push(at);
        }
        path.reverse();
        path
    }
}

const NOBODY: u32 = u32::MAX;
