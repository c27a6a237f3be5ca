// The contract of shared counters, kept in the memory of one process.
import { MemoryCounterStore } from '../../../src/accounts/limits/index.ts';
import { describeCounterStore } from './counter-store-contract.ts';

describeCounterStore('in memory', (leaseMs) => new MemoryCounterStore({ leaseMs }));
