// Loads the question of a recorded request, to open it in the playground.
import { useMemo } from 'react';
import { useRead } from '../api/queries.ts';
import { list, object, text, type Json } from './conversation.ts';

interface LinkedRequest {
  readonly system: string;
  readonly text: string;
}

/** @param request id of its record @returns null while loading, or if no readable body is stored */
export function useAsked(request: string | undefined): LinkedRequest | null {
  const { data } = useRead(
    'GET /generations/{id}/payloads',
    { params: { id: request ?? '' } },
    { when: request !== undefined },
  );
  return useMemo(() => {
    const body = data?.data.find(({ stage }) => stage === 'client_request')?.text ?? '';
    return linkedRequestIn(body);
  }, [data]);
}

function linkedRequestIn(body: string): LinkedRequest | null {
  let json: Json;
  try {
    json = object(JSON.parse(body));
  } catch {
    return null;
  }
  const input = json['messages'] ?? json['contents'] ?? json['input'];
  const entries = list(input);
  const systems = entries.filter(({ role }) => role === 'system' || role === 'developer');
  const last = entries.findLast(({ role }) => role === 'user');
  const system = json['system'] ?? json['instructions'] ?? object(json['systemInstruction'])['parts'];
  return {
    system: [system, ...systems.map((each) => each['content'])]
      .map(textIn)
      .filter((each) => each !== '')
      .join('\n'),
    text: typeof input === 'string' ? input : textIn(last?.['content'] ?? last?.['parts']),
  };
}

/** Text of a message, or of its parts. */
function textIn(content: unknown): string {
  return typeof content === 'string'
    ? content
    : list(content)
        .map((part) => text(part['text']))
        .join('\n');
}
