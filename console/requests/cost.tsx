// Token usage and cost of a request by token class, with the prices at that time.
import type { ReactNode } from 'react';
import { count, exactUsd, rate } from '../format/numbers.ts';
import { priceSource, words } from '../format/states.ts';
import { Signal } from '../ui/status.tsx';
import type { Generation } from './generation.ts';

/** Labels of token classes. */
const CLASSES: Readonly<Record<string, string>> = {
  input: 'Input',
  cache_read: 'Read from cache',
  cache_write_5m: 'Written to cache (5 min)',
  cache_write_1h: 'Written to cache (1 h)',
  input_audio: 'Audio in',
  input_image: 'Pictures in',
  output: 'Output',
  output_reasoning: 'Reasoning',
  output_audio: 'Audio out',
};

export function Cost({ generation }: { readonly generation: Generation }): ReactNode {
  const { native_tokens: tokens, cost, estimated } = generation;
  if (!tokens) return <p className="text-soft">No tokens were counted or charged for this request.</p>;
  const prices = (cost?.price ?? {}) as Readonly<Record<string, unknown>>;
  const details = (of: Readonly<Record<string, number>>): readonly (readonly [string, number])[] =>
    Object.entries(of)
      .filter(([, value]) => value > 0)
      .map(([name, value]) => [`  ${words(name).replace(/ tokens$/, '')}`, value]);
  const parts = [
    ['Input', tokens.prompt_tokens] as const,
    ...details(tokens.prompt_tokens_details),
    ['Output', tokens.completion_tokens] as const,
    ...details(tokens.completion_tokens_details),
    ...Object.entries(tokens.tool_calls).map(([name, value]) => [`Calls of ${words(name)}`, value] as const),
  ];
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <table className="table self-start">
        <caption className="mb-1 text-left font-medium">
          Tokens {estimated && <Signal tone="warn">estimated by the gateway</Signal>}
        </caption>
        <tbody>
          {parts.map(([name, value]) => (
            <tr key={name}>
              <th scope="row" className={name.startsWith('  ') ? 'pl-8! font-normal text-soft!' : ''}>
                {name}
              </th>
              <td className="number">{count(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table className="table self-start">
        <caption className="mb-1 text-left font-medium">Cost</caption>
        <thead>
          <tr>
            <th scope="col">Class</th>
            <th scope="col" className="number">
              Per 1M
            </th>
            <th scope="col" className="number">
              USD
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(cost?.items ?? {}).map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{CLASSES[name] ?? words(name)}</th>
              <td className="number">{rate(prices[name])}</td>
              <td className="number">{exactUsd(value)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Total</th>
            <td className="number text-faint">
              {typeof prices['source'] === 'string' && priceSource(prices['source'])}
            </td>
            <td className="number font-semibold">{exactUsd(cost?.usd)}</td>
          </tr>
        </tbody>
      </table>
      {cost?.usd == null && (
        <p className="text-soft md:col-span-2">
          Unknown price of {generation.model}. Set one in dragoman.yaml:{' '}
          <code className="font-mono text-ink">models[].endpoints[].price</code>.
        </p>
      )}
    </div>
  );
}
