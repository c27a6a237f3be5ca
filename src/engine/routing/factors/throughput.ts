// Throughput factor: prefers more tokens per second.
import type { Factor } from './factor.ts';

export const throughput: Factor = {
  name: 'throughput',
  measured: true,
  value: ({ health }) => health.tokensPerSecond,
  describe({ health }) {
    const { tokensPerSecond } = health;
    return tokensPerSecond === null ? 'not measured yet' : `${Math.round(tokensPerSecond)} tokens per second`;
  },
};
