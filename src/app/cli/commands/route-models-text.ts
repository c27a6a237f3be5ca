// Models of an explained route as text: one line each with the components of the score. Tolerates tables of other
// versions.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/index.ts';
import { padColumns } from '../command.ts';
import { members, rounded, rowsOf, shown, wrap, type Painter } from './format-value.ts';

const GAP = '  ';
const MEASURES = ['quality', 'cheapness', 'speed'] as const;

/** Lines about the choice of models and the models in order of trying. Empty: one model was named. */
export function modelLines(
  models: JsonValue | undefined,
  width: number | null,
  paint: Painter,
): readonly string[] {
  if (!isJsonObject(models)) return [];
  const { order, excluded, ...basis } = models;
  const rows = rowsOf(order);
  const lines = [...wrap(`models by ${members(basis)}`, width)];
  if (isJsonObject(excluded) && Object.keys(excluded).length > 0) {
    const counts = Object.entries(excluded).map(([reason, count]) => `${shown(reason)} (${shown(count)})`);
    lines.push(...wrap(`left out: ${counts.join(', ')}`, width));
  }
  if (rows.length === 0) return lines;
  const cells = [
    ['#', 'MODEL', 'SCORE', ...MEASURES.map((name) => name.toUpperCase()), 'WHY'],
    ...rows.map((row, at) => {
      const measures = isJsonObject(row['measures']) ? row['measures'] : {};
      return [
        String(at + 1),
        shown(row['model']),
        rounded(row['score'], 2),
        ...MEASURES.map((name) => rounded(measures[name], 2)),
        isMeasured(row) ? '' : shown(row['reason']),
      ];
    }),
  ];
  const padded = padColumns(cells).map((row) => row.join(GAP).trimEnd());
  return [...lines, '', ...padded.map((line, at) => (at === 0 ? paint('dim', line) : line))];
}

/** True when the reason only repeats the components of the score. */
function isMeasured(row: JsonObject): boolean {
  const reason = row['reason'];
  return isJsonObject(row['measures']) && typeof reason === 'string' && reason.startsWith('quality ');
}

/** An endpoint's line without what the line of its model already says. */
export function withoutModelsWords(row: JsonObject, models: JsonValue | undefined): JsonObject {
  const order = isJsonObject(models) && isJsonArray(models['order']) ? rowsOf(models['order']) : [];
  const model = order.find((each) => each['model'] === row['model']);
  const said = model?.['reason'];
  const { reason } = row;
  if (typeof said !== 'string' || typeof reason !== 'string' || !reason.startsWith(`${said}; `)) return row;
  const own = row['score'];
  const ofModel = model?.['score'];
  // The two were rounded in different places.
  const isModels = typeof own === 'number' && typeof ofModel === 'number' && Math.abs(own - ofModel) < 0.001;
  return { ...row, score: isModels ? null : (own ?? null), reason: reason.slice(said.length + 2) };
}
