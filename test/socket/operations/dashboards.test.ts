// The dashboard and the alert rules: they ask only for metrics and labels that there are, and Prometheus' own tool takes
// them, as well as the metrics themselves.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { LABELS, type MetricDefinition, METRICS } from '../../../src/operations/metrics/index.ts';
import { startGateway } from '../../support/harness.ts';

const FOLDER = join(import.meta.dir, '..', '..', '..', 'dashboards');

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const dashboard = JSON.parse(readFileSync(join(FOLDER, 'grafana.json'), 'utf8')) as Dashboard;
const rules = parse(readFileSync(join(FOLDER, 'alerts.yml'), 'utf8')) as Rules;

/** Every expression, by where it stands. */
const expressions: readonly (readonly [where: string, expression: string])[] = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...dashboard.templating.list.map(({ name, query }) => [`variable ${name}`, query] as const),
  ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const)),
];

/** Names of lines, with the labels that they may have. */
const lines = new Map<string, ReadonlySet<string>>();
for (const { name, type, labels } of Object.values(METRICS) as readonly MetricDefinition[]) {
  // Prometheus itself adds where it read them.
  const own = ['job', 'instance', ...labels.map((label) => LABELS[label].name)];
  if (type !== 'histogram') lines.set(name, new Set(own));
  else for (const end of ['_bucket', '_sum', '_count']) lines.set(name + end, new Set([...own, 'le']));
}

const promtool = Bun.which('promtool');
/** The expression as Prometheus reads it, less what is Grafana's. */
const plain = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*');

test('there is something to check', () => {
  expect(expressions.length).toBeGreaterThan(40);
  const asked = new Set(expressions.flatMap(([, expression]) => expression.match(/\w+/g) ?? []));
  const shown = [...lines.keys()].filter((name) => asked.has(name));
  expect(shown.length).toBeGreaterThan(20);
});

test.each(expressions)('%s queries existing metrics', (_, expression) => {
  const metrics = expression.match(/\b(?:dragoman|gen_ai|process)_\w+(?=\{|\[|,|\)|\s|$)/g) ?? [];
  const selectors = [...expression.matchAll(/\b([a-z]\w*)\{([^}]*)\}/g)];
  const named = metrics.filter((name) => !Object.values(LABELS).some((label) => label.name === name));
  expect(named.filter((name) => !lines.has(name))).toEqual([]);
  for (const [, name = '', labels = ''] of selectors) {
    if (name === 'up') continue;
    const used = [...labels.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label);
    expect(used.filter((label) => lines.get(name)?.has(label) !== true)).toEqual([]);
  }
  // A sum is grouped by labels of what it sums.
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/),
  );
  const all = new Set(named.flatMap((name) => [...(lines.get(name) ?? [])]));
  expect(grouped.filter((label) => !all.has(label))).toEqual([]);
});

describe.skipIf(promtool === null)(
  `Prometheus' own tool${promtool === null ? ' (install promtool: Debian has it in the package prometheus)' : ''}`,
  () => {
    let folder = '';
    beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'dragoman-rules-'))));
    afterAll(() => rmSync(folder, { recursive: true }));

    const run = (args: readonly string[], stdin = ''): { readonly code: number; readonly said: string } => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? '', ...args], {
        stdin: Buffer.from(stdin),
        cwd: FOLDER,
      });
      return { code: exitCode, said: stdout.toString() + stderr.toString() };
    };

    test('accepts the rules, and their tests pass', () => {
      expect(run(['check', 'rules', 'alerts.yml'])).toMatchObject({ code: 0 });
      expect(run(['test', 'rules', 'alerts.test.yml'])).toMatchObject({ code: 0 });
    });

    test('accepts every expression of the dashboard', () => {
      const asked = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => plain(expr)));
      const group = { name: 'dashboard', rules: asked.map((expr, at) => ({ record: `asked_${at}`, expr })) };
      const file = join(folder, 'dashboard.yml');
      writeFileSync(file, JSON.stringify({ groups: [group] }));
      expect(run(['check', 'rules', file])).toMatchObject({ code: 0 });
    });

    test('reports no problem of the metrics', async () => {
      const gateway = await startGateway({ metrics: { listen: '127.0.0.1:0' } });
      const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'hi' }], stream: true };
      await (await gateway.post('/chat/completions', body)).text();
      const text = await (await fetch(`${gateway.metricsOrigin}/metrics`)).text();
      await gateway.close();
      expect(run(['check', 'metrics'], text)).toEqual({ code: 0, said: '' });
    });
  },
);
