// Merges the metrics pages of several workers into one. Each sample gets a `worker` label (Prometheus, "Exposition formats",
// text format 0.0.4).

/** A sample line: its name, and an opening brace if labels follow. */
const SAMPLE = /^([A-Za-z_:][\w:]*)(\{?)/;
/** A HELP or TYPE line. */
const DESCRIBES = /^# (?:HELP|TYPE) (\S+) /;

export interface WorkerMetrics {
  readonly worker: number;
  /** Metrics page of one process. */
  readonly text: string;
}

interface Family {
  /** Page with its description. */
  readonly by: WorkerMetrics;
  readonly described: string[];
  readonly samples: string[];
}

/** Merges pages: each family once, and its samples with the label `worker`. */
export function mergeMetrics(pages: readonly WorkerMetrics[]): string {
  const families = new Map<string, Family>();
  for (const page of pages) {
    const { worker } = page;
    let family: Family | undefined;
    for (const line of page.text.split('\n')) {
      const name = DESCRIBES.exec(line)?.[1];
      if (name !== undefined) {
        family = families.get(name) ?? { by: page, described: [], samples: [] };
        families.set(name, family);
        if (family.by === page) family.described.push(line);
      } else if (family && SAMPLE.test(line))
        family.samples.push(
          line.replace(SAMPLE, (_, sample: string, open: string) =>
            open === '' ? `${sample}{worker="${worker}"}` : `${sample}{worker="${worker}",`,
          ),
        );
    }
  }
  const blocks = [...families.values()].map(({ described, samples }) =>
    [...described, ...samples].join('\n'),
  );
  return `${blocks.join('\n\n')}\n`;
}
