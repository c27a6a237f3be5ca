// Formats numbers for display: with units and digit grouping. Unknown values become a word.
const UNKNOWN = 'Unknown';
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
const wholePercent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `12,345` */
export function count(value: number | null | undefined): string {
  return value == null ? UNKNOWN : whole.format(value);
}

/** `1 model`, `12 models` @param things plural */
export function counted(value: number, thing: string, things = `${thing}s`): string {
  return `${whole.format(value)} ${value === 1 ? thing : things}`;
}

/** A limit with its amount in groups: `$123,456.78 per month`. @param text as in the API: `$123456.78 per month` */
export function limitWords(text: string): string {
  return text.replace(
    /^(\$?)(\d+)/,
    (_, sign: string, digits: string) => `${sign}${whole.format(Number(digits))}`,
  );
}

/** `12.3K` */
export function short(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  return Math.abs(value) < 10_000 ? whole.format(value) : compact.format(value);
}

/** Formatters by number of decimals. Cached, because creating one takes longer than using it. */
const amounts = new Map<number, Intl.NumberFormat>();

function withDecimals(decimals: number): Intl.NumberFormat {
  let format = amounts.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat('en', {
      minimumFractionDigits: Math.min(2, decimals),
      maximumFractionDigits: decimals,
    });
    amounts.set(decimals, format);
  }
  return format;
}

/** `$2.66`, and `<$0.01` below a cent. @param value USD; null: unknown */
export function usd(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  if (value === 0) return '$0';
  const size = Math.abs(value);
  if (size < 0.01) return value < 0 ? '−<$0.01' : '<$0.01';
  return `${value < 0 ? '−' : ''}$${cents.format(size)}`;
}

/** `$1.25`, `$0.00042`: at least two significant digits. */
export function exactUsd(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  if (value === 0) return '$0';
  const size = Math.abs(value);
  const decimals = size >= 0.995 ? 2 : Math.min(9, 1 - Math.floor(Math.log10(size)));
  return `${value < 0 ? '−' : ''}$${withDecimals(decimals).format(size)}`;
}

/** `$1.5K` from a thousand dollars on, for labels without room for more. @param value USD; null: unknown */
export function shortUsd(value: number | null | undefined): string {
  return value != null && value >= 1_000 ? `$${compact.format(value)}` : exactUsd(value);
}

/**
 * A sum in USD. `≥ $2.66`: some requests have no known price. `Unknown`: none has.
 * @param unpriced requests whose price is unknown
 */
export function usdSum(value: number | null | undefined, unpriced: number | null | undefined): string {
  if (value == null || !unpriced) return usd(value);
  return value === 0 ? UNKNOWN : `≥ ${usd(value)}`;
}

/** `840 ms`, `1.24 s`, `3 min 20 s` @param ms milliseconds */
export function duration(ms: number | null | undefined): string {
  if (ms == null) return UNKNOWN;
  if (ms < 999.5) return `${ms < 10 && ms > 0 ? ms.toFixed(1).replace(/\.0$/, '') : Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2 * 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(ms / 86_400_000)} days`;
}

/** `1,880/s`: output tokens of an endpoint. */
export function speed(perSecond: number | null | undefined): string {
  return perSecond == null ? UNKNOWN : `${whole.format(perSecond)}/s`;
}

/** `99.2 %` @param value from 0 to 1 */
export function share(value: number | null | undefined): string {
  if (value == null) return UNKNOWN;
  // Small non-zero values must not appear as 0 %, nor values below 1 as 100 %.
  if (value > 0 && value < 0.000_5) return '<0.1 %';
  if (value < 1 && value >= 0.999_5) return '>99.9 %';
  const format = value > 0.995 || value === 0 || (value >= 0.1 && value < 0.99) ? wholePercent : percent;
  return (value < 1 && value > 0.995 ? percent : format).format(value).replace('%', ' %');
}

/** USD per million tokens: `$1.25`. */
export function rate(value: unknown): string {
  if (typeof value === 'number') return exactUsd(value);
  const base = typeof value === 'object' && value !== null && 'base' in value ? value.base : null;
  return typeof base === 'number' ? `${exactUsd(base)}+` : UNKNOWN;
}

/** `▲ 12 %`, `▼ 9 %`; null if either value is unknown, or `before` is 0. */
export function change(now: number | null | undefined, before: number | null | undefined): string | null {
  if (now == null || before == null || before === 0) return null;
  const part = now / before - 1;
  if (Math.abs(part) < 0.005) return '± 0 %';
  const size =
    Math.abs(part) >= 10 ? `${whole.format(Math.abs(part))} ×` : wholePercent.format(Math.abs(part));
  return `${part > 0 ? '▲' : '▼'} ${size.replace('%', ' %')}`;
}
