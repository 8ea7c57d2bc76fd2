// The state of the page, in one place. Views subscribe to the parts that they draw.

export function createStore(initial) {
  const state = { ...initial }, listeners = [];
  return {
    state,
    /** Change some parts, then draw what shows them. */
    set(patch) {
      const changed = Object.keys(patch).filter((key) => state[key] !== patch[key]);
      if (!changed.length) return;
      Object.assign(state, patch);
      for (const { keys, act } of listeners) if (keys.some((key) => changed.includes(key))) act(state);
    },
    on(keys, act) {
      listeners.push({ keys, act });
    },
  };
}

/** What can be undone: pairs of actions that take each other back. */
export class History {
  constructor(tell) {
    this.past = [];
    this.future = [];
    this.tell = tell;
  }

  /** Note a change that was made. */
  made(words, undo, redo) {
    this.past.push({ words, undo, redo });
    if (this.past.length > 200) this.past.shift();
    this.future = [];
    this.tell(this);
  }

  /** What was done before cannot be taken back any more. */
  clear() {
    this.past = [];
    this.future = [];
    this.tell(this);
  }

  undo() { this.step(this.past, this.future, "undo"); }

  redo() { this.step(this.future, this.past, "redo"); }

  step(from, to, which) {
    const change = from.pop();
    if (!change) return;
    to.push(change);
    change[which]();
    this.tell(this);
  }
}
