// The contract of shared counters, kept by a supervisor and asked for over a channel.
import { type Caller, MemoryCounterStore } from '../../../src/accounts/limits/index.ts';
import { Channel } from '../../../src/cluster/workers/channel.ts';
import { counterAnswers, SupervisorCounterStore } from '../../../src/cluster/workers/index.ts';
import { describeCounterStore } from './counter-store-contract.ts';

describeCounterStore('a supervisor', (leaseMs) => {
  // The supervisor goes by its own time: here it is that of whoever asks.
  let nowMs = 0;
  const here: Channel = new Channel((message) => {
    const { input } = message as { readonly input?: readonly [Caller] };
    nowMs = input?.[0].nowMs ?? nowMs;
    there.take(structuredClone(message));
  });
  const there = new Channel((message) => here.take(structuredClone(message)));
  for (const [what, answer] of Object.entries(
    counterAnswers(new MemoryCounterStore({ leaseMs }), () => nowMs),
  ))
    there.answer(what, answer);
  return new SupervisorCounterStore(here);
});
