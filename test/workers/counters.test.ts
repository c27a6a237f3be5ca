// The contract of shared counters, kept by a supervisor and asked for over a channel.
import { MemoryCounterStore } from '../../src/limits/index.ts';
import { Channel } from '../../src/workers/channel.ts';
import { counterAnswers, SupervisorCounterStore } from '../../src/workers/index.ts';
import { describeCounterStore } from '../counter-store-contract.ts';

describeCounterStore('a supervisor', (leaseMs) => {
  const here: Channel = new Channel((message) => there.take(structuredClone(message)));
  const there = new Channel((message) => here.take(structuredClone(message)));
  for (const [what, answer] of Object.entries(counterAnswers(new MemoryCounterStore({ leaseMs }))))
    there.answer(what, answer);
  return new SupervisorCounterStore(here);
});
