// Metrics of several workers on one page.
import { expect, test } from 'bun:test';
import { mergeMetrics } from '../../../src/cluster/workers/merge-metrics.ts';

const page = (requests: number, more = ''): string => `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{model="a} b",status="200"} ${requests}

# HELP up Runs.
# TYPE up gauge
up 1
${more}`;

test('each family occurs once, and each sample names its worker', () => {
  const merged = mergeMetrics([
    { worker: 1, text: page(3) },
    { worker: 2, text: page(4, '\n# TYPE late histogram\nlate_bucket{le="+Inf"} 2\nlate_count 2\n') },
  ]);
  expect(merged).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{worker="1",model="a} b",status="200"} 3
requests_total{worker="2",model="a} b",status="200"} 4

# HELP up Runs.
# TYPE up gauge
up{worker="1"} 1
up{worker="2"} 1

# TYPE late histogram
late_bucket{worker="2",le="+Inf"} 2
late_count{worker="2"} 2
`);
});

test('without workers there are no metrics', () => {
  expect(mergeMetrics([])).toBe('\n');
});
