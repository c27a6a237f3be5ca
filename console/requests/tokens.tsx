// What a request used and cost, by class, with the prices of that time.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { count, rate, usd } from '../format/numbers.ts';
import { Badge } from '../ui/badge.tsx';

type Generation = Answer<'GET /generations/{id}'>;

/** Names of classes in prices, as people say them. */
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

export function Tokens({ generation }: { readonly generation: Generation }): ReactNode {
  const { native_tokens: tokens, cost, estimated } = generation;
  if (!tokens) return <p className="text-soft">Nobody counted tokens for this request.</p>;
  const prices = (cost?.price ?? {}) as Readonly<Record<string, unknown>>;
  const parts = [
    ['Prompt', tokens.prompt_tokens],
    ...Object.entries(tokens.prompt_tokens_details).map(
      ([name, value]) => [`  ${words(name)}`, value] as const,
    ),
    ['Completion', tokens.completion_tokens],
    ...Object.entries(tokens.completion_tokens_details).map(
      ([name, value]) => [`  ${words(name)}`, value] as const,
    ),
    ...Object.entries(tokens.tool_calls).map(([name, value]) => [`Calls: ${words(name)}`, value] as const),
  ] as const;
  const shown = parts.filter(([name, value]) => !name.startsWith('  ') || Number(value) > 0);
  return (
    <div className="grid gap-6 md:grid-cols-2">
      <table className="table">
        <caption className="mb-1 text-left text-sm font-medium">
          Tokens {estimated && <Badge tone="warn">estimated here</Badge>}
        </caption>
        <tbody>
          {shown.map(([name, value]) => (
            <tr key={name}>
              <th scope="row" className={name.startsWith('  ') ? 'pl-8' : ''}>
                {name}
              </th>
              <td className="number">{count(Number(value))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <table className="table">
        <caption className="mb-1 text-left text-sm font-medium">Cost</caption>
        <thead>
          <tr>
            <th scope="col">Class</th>
            <th scope="col" className="number">
              per 1M
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
              <td className="number">{usd(value)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">Together</th>
            <td className="number text-faint">{typeof prices['source'] === 'string' && prices['source']}</td>
            <td className="number font-semibold">{cost?.usd == null ? 'price unknown' : usd(cost.usd)}</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function words(name: string): string {
  return name.replaceAll('_', ' ').replace(/ tokens$/, '');
}
