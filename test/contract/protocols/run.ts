// Every cell of the matrix, measured. Knows nothing of how the outcome is kept or shown.
import { individual, PROTOCOLS } from './feature.ts';
import { FAILURES, FEATURES } from './features.ts';
import { measure, measureFailure, type Cell, type Way } from './measure.ts';
import { openStage } from './stage.ts';

/** By row, then by `client → upstream`, then by `stream` and `whole`. */
export type Matrix = Readonly<Record<string, Readonly<Record<string, { stream: Cell; whole: Cell }>>>>;

/** Runs all scenarios, one after another, against one gateway. */
export async function runMatrix(): Promise<Matrix> {
  await using stage = await openStage();
  let runs = 0;
  const matrix: Record<string, Record<string, { stream: Cell; whole: Cell }>> = {};
  const rows: readonly (readonly [string, (way: Way) => Promise<Cell>])[] = [
    ...FEATURES.map(
      (feature) =>
        [feature.name, (way: Way) => measure(stage, individual(feature, ++runs, stage.web), way)] as const,
    ),
    ...FAILURES.map((name, index) => [name, (way: Way) => measureFailure(stage, index === 1, way)] as const),
  ];
  for (const [name, run] of rows) {
    const row: Record<string, { stream: Cell; whole: Cell }> = (matrix[name] = {});
    for (const client of PROTOCOLS)
      for (const upstream of PROTOCOLS)
        row[`${client} → ${upstream}`] = {
          whole: await run({ client, upstream, stream: false }),
          stream: await run({ client, upstream, stream: true }),
        };
  }
  return matrix;
}
