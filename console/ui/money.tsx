// Amount of money, rounded to cents, with the exact amount as a tooltip.
import type { ReactNode } from 'react';
import { count, exactUsd, usd, usdSum } from '../format/numbers.ts';

interface MoneyProps {
  /** USD; null: unknown. */
  readonly value: number | null | undefined;
  /** Number of requests in the sum without a known price. */
  readonly unpriced?: number | null | undefined;
}

/** `$2.66`, `<$0.01`, `≥ $2.66`, `Unknown`. */
export function Money({ value, unpriced }: MoneyProps): ReactNode {
  const text = unpriced == null ? usd(value) : usdSum(value, unpriced);
  if (text === 'Unknown')
    return (
      <span
        className="text-faint"
        title="The price of this model is unknown. Set it in dragoman.yaml (models: … price)."
      >
        Unknown
      </span>
    );
  const lacks = unpriced ? `, excluding ${count(unpriced)} requests without a price` : '';
  const exact = exactUsd(value);
  return <span title={exact === text && lacks === '' ? undefined : exact + lacks}>{text}</span>;
}
