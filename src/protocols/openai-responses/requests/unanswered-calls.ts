// Calls of one kind of tool that have no output yet. Finds the call of an output in constant time.

interface Call {
  readonly id: string;
  isAnswered: boolean;
}

/** Calls in order. */
class Queue {
  readonly #calls: Call[] = [];
  #next = 0;

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** Answers the oldest unanswered call. @returns undefined if there is none */
  answer(): Call | undefined {
    for (let call = this.#calls[this.#next]; call; call = this.#calls[++this.#next]) {
      if (call.isAnswered) continue;
      call.isAnswered = true;
      return call;
    }
    return undefined;
  }
}

export class UnansweredCalls {
  readonly #all = new Queue();
  readonly #byId = new Map<string, Queue>();
  /** Calls by their id and by their item's id. */
  readonly #byAnyId = new Map<string, Queue>();

  /** @param itemId id of the item that holds the call */
  add(id: string, itemId: string | undefined): void {
    const call = { id, isAnswered: false };
    this.#all.add(call);
    addTo(this.#byId, id, call);
    addTo(this.#byAnyId, id, call);
    if (itemId !== undefined && itemId !== id) addTo(this.#byAnyId, itemId, call);
  }

  /**
   * Returns the id of the call that an output answers. `local_shell_call_output` has no `call_id`: its own id is that
   * of the call or of the call's item. Otherwise it answers the oldest call without an output.
   */
  answer(callId: string | undefined, itemId: string | undefined): string {
    if (callId !== undefined) return this.#byId.get(callId)?.answer()?.id ?? callId;
    const named = itemId === undefined ? undefined : this.#byAnyId.get(itemId)?.answer();
    return (named ?? this.#all.answer())?.id ?? itemId ?? '';
  }
}

function addTo(queues: Map<string, Queue>, key: string, call: Call): void {
  let queue = queues.get(key);
  if (!queue) queues.set(key, (queue = new Queue()));
  queue.add(call);
}
