// Calls of one kind of tool in a conversation that wait for their outputs. Finds the call of an output in constant time,
// however many wait. Knows no items.

interface Call {
  readonly id: string;
  isAnswered: boolean;
}

/** Calls in the order in which they were made. */
class Queue {
  readonly #calls: Call[] = [];
  #next = 0;

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** Answers the oldest that is not answered. @returns undefined where none is */
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
  /** By the id of the call and by that of its item. */
  readonly #byAnyId = new Map<string, Queue>();

  /** @param itemId the id of the item that holds the call */
  add(id: string, itemId: string | undefined): void {
    const call = { id, isAnswered: false };
    this.#all.add(call);
    addTo(this.#byId, id, call);
    addTo(this.#byAnyId, id, call);
    if (itemId !== undefined && itemId !== id) addTo(this.#byAnyId, itemId, call);
  }

  /**
   * The id of the call that an output belongs to. `local_shell_call_output` has no `call_id`: its own id is that of the
   * call or of the call's item; failing that, it answers the oldest call without an output.
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
