"""Make sampled and recombined graphs legal, a whole population in one call."""

import numpy as np

from bayescout.kernels.jit import kernel


@kernel
def next_random(state):
    """One step of Marsaglia's 32-bit xorshift, in an int64 to avoid overflow; nonzero states never give 0."""
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state


@kernel
def below(state, limit):
    """A number from 0 to limit - 1, computed from a random state."""
    return (state * limit) >> 32


@kernel
def limit_parents(population, required, limits, seeds):
    """Delete random parents that are not required until no node has more than its limit.

    population  (size, n, n) bool   [individual, parent, child]; changed in place
    required    (n, n) bool
    limits      (n,) int64          at least the number of required parents
    seeds       (size,) int64       from 1 to 2^32 - 1, of the random choices in each individual
    """
    size, n, _ = population.shape
    for individual in range(size):
        graph = population[individual]
        state = seeds[individual]
        for child in range(n):
            surplus = -limits[child]
            loose = 0
            for parent in range(n):
                if graph[parent, child]:
                    surplus += 1
                    if not required[parent, child]:
                        loose += 1
            # Delete optional parents so that every choice of `surplus` of them is equally likely.
            for parent in range(n):
                if surplus <= 0:
                    break
                if graph[parent, child] and not required[parent, child]:
                    state = next_random(state)
                    if below(state, loose) < surplus:
                        graph[parent, child] = False
                        surplus -= 1
                    loose -= 1


@kernel
def break_cycles(population, required, seeds):
    """Delete a random arc of a cycle, never a required one, until every graph is acyclic.

    population  (size, n, n) bool   [individual, parent, child]; changed in place
    required    (n, n) bool         acyclic, so that every cycle has an arc to delete
    seeds       (size,) int64       from 1 to 2^32 - 1, of the random choices in each individual
    """
    size, n, _ = population.shape
    waiting = np.empty(n, dtype=np.int64)
    peeled = np.empty(n, dtype=np.bool_)
    free = np.empty(n, dtype=np.int64)
    path = np.empty(n + 1, dtype=np.int64)
    met = np.empty(n, dtype=np.int64)
    for individual in range(size):
        graph = population[individual]
        state = seeds[individual]
        ready = 0
        for child in range(n):
            peeled[child] = False
            waiting[child] = 0
            for parent in range(n):
                if graph[parent, child]:
                    waiting[child] += 1
            if waiting[child] == 0:
                free[ready] = child
                ready += 1
        done = 0
        while True:
            # Remove nodes without remaining parents; every node that stays has a cycle among its ancestors.
            while done < ready:
                node = free[done]
                done += 1
                peeled[node] = True
                for child in range(n):
                    if graph[node, child]:
                        waiting[child] -= 1
                        if waiting[child] == 0:
                            free[ready] = child
                            ready += 1
            if done == n:
                break
            state, parent, child = arc_of_a_cycle(graph, required, (peeled, waiting, path, met), state)
            graph[parent, child] = False
            waiting[child] -= 1
            if waiting[child] == 0:
                free[ready] = child
                ready += 1


@kernel
def arc_of_a_cycle(graph, required, scratch, state):
    """A random arc, not required, of a cycle found by walking up to random parents from a random node.

    graph    (n, n) bool   every node that is not peeled has a parent that is not peeled
    scratch  peeled (n,) bool; waiting (n,) int64, parents not peeled; path (n + 1,) and met (n,) int64
    Returns the random state, the parent and the child.
    """
    peeled, waiting, path, met = scratch
    n = graph.shape[0]
    left = 0
    for node in range(n):
        met[node] = -1
        if not peeled[node]:
            left += 1
    state = next_random(state)
    nth = below(state, left)
    node = -1
    while nth >= 0:
        node += 1
        if not peeled[node]:
            nth -= 1
    length = 0
    while met[node] < 0:
        met[node] = length
        path[length] = node
        length += 1
        state = next_random(state)
        nth = below(state, waiting[node])
        parent = -1
        while nth >= 0:
            parent += 1
            if graph[parent, node] and not peeled[parent]:
                nth -= 1
        node = parent
    path[length] = node
    loose = 0
    for place in range(met[node], length):
        if not required[path[place + 1], path[place]]:
            loose += 1
    state = next_random(state)
    nth = below(state, loose)
    place = met[node] - 1
    while nth >= 0:
        place += 1
        if not required[path[place + 1], path[place]]:
            nth -= 1
    return state, path[place + 1], path[place]
