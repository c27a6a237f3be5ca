// Reads the text format of Prometheus (its documentation, "Exposition formats", 2026-11), as strictly as it is written.

export interface MetricText {
  readonly type: string;
  readonly help: string;
  /** By the name of the line and its labels, as they stand there. */
  readonly values: ReadonlyMap<string, number>;
}

/** @throws Error for a line that is none */
export function readMetrics(text: string): ReadonlyMap<string, MetricText> {
  const metrics = new Map<string, { type: string; help: string; values: Map<string, number> }>();
  let name = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, kind, reported = '', rest = ''] = /^# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (metrics.has(reported)) throw new Error(`${reported} twice`);
      metrics.set((name = reported), { type: '', help: rest, values: new Map() });
    } else if (kind === 'TYPE') {
      if (reported !== name) throw new Error(`the type of ${reported} stands below ${name}`);
      metrics.get(reported)!.type = rest;
    } else {
      const label = '[a-z_][a-z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
      const sample = new RegExp(`^([a-z_:][a-z0-9_:]*)(\\{${label}(?:,${label})*\\})? (\\S+)$`).exec(line);
      if (!sample) throw new Error(`no line of metrics: ${line}`);
      const [, of = '', labels = '', value] = sample;
      const metric = metrics.get(name);
      const names =
        metric?.type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
      if (!metric || !names.includes(of)) throw new Error(`${of} stands below ${name}`);
      if (metric.values.has(of + labels)) throw new Error(`${of + labels} twice`);
      metric.values.set(of + labels, Number(value));
    }
  }
  return metrics;
}

/** The value of the one line of a metric that has all these labels; undefined where there is none. */
export function valueOf(
  metrics: ReadonlyMap<string, MetricText>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const base = metrics.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
  const wanted = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  const found = [...(metrics.get(base)?.values ?? [])].filter(
    ([line]) => line.replace(/\{.*/, '') === name && wanted.every((each) => line.includes(each)),
  );
  if (found.length > 1)
    throw new Error(`${name} with ${wanted.join(', ')} stands there ${found.length} times`);
  return found[0]?.[1];
}
