// Generates request bodies for benchmarks: conversations and an agent's request with realistic text. Deterministic:
// the same size gives the same bytes. Nothing is copied from recorded traffic.
import type { Api, Message, ToolTurn } from './apis.ts';

/** Paragraphs in several scripts: typographic quotes and dashes, accents, Chinese, Cyrillic, code, JSON, an emoji. */
const PARAGRAPHS: readonly string[] = [
  'We moved the nightly export to 02:30 – the “old” job ran into the backup window, and nobody noticed until the disk was full. Could you check whether the retry still makes sense? It’s set to five attempts, which feels like a lot…\n\n',
  'Die Prüfung läuft über drei Stufen: Zuerst wird die Größe geändert, danach die Übersetzung überprüft, und schließlich erhält der Kunde eine Bestätigung – möglichst am selben Tag.\n\n',
  'Après la mise à jour, l’écran d’accueil reste figé quelques secondes ; l’équipe pense qu’une requête bloque. À vérifier : le délai d’expiration, la file d’attente et le cache côté serveur.\n\n',
  '请把昨天的会议纪要整理成三点:一、接口的兼容性;二、上线时间;三、谁来负责回滚。注意保留原始编号,不要翻译产品名称。\n\n',
  'Сводка за неделю: обработано 1 204 заявки, среднее время ответа — 3,4 минуты. Ошибок стало меньше, но очередь всё ещё растёт по понедельникам.\n\n',
  '```ts\nexport async function loadPage(id: string, signal: AbortSignal): Promise<Page> {\n\tconst answer = await fetch(`/api/pages/${encodeURIComponent(id)}`, { signal });\n\tif (!answer.ok) throw new Error(`page ${id}: ${answer.status}`);\n\treturn (await answer.json()) as Page; // "title", "blocks"\n}\n```\n\n',
  'Here is what the log says:\n{"level":"warn","msg":"lease lost","node":"eu-2","held_ms":30125,"path":"C:\\\\jobs\\\\export"}\nand the line behind it is empty. I’d say the clock on eu-2 is off by a minute 🙂 — what do you think?\n\n',
  'The table has three columns: region, seats, price. Prices are in euros (€), seats are whole numbers; a missing price means “on request”. Please answer with one sentence per row, sorted by price, and say which rows you left out.\n\n',
];

/** Text of about `bytes` bytes in UTF-8. Each seed begins with a different paragraph. */
function textOf(bytes: number, seed: number): string {
  let out = '';
  let left = bytes;
  for (let at = seed; left > 0; at++) {
    const paragraph = PARAGRAPHS[at % PARAGRAPHS.length] ?? '';
    const size = Buffer.byteLength(paragraph);
    if (size <= left) out += paragraph;
    else out += [...paragraph].slice(0, Math.floor((left / size) * [...paragraph].length)).join('');
    left -= size;
  }
  return out;
}

/** A conversation with messages of up to 2,000 bytes. @returns JSON of about `bytes` bytes */
export function conversationBody(model: string, bytes: number, stream: boolean, api: Api): string {
  const messages: Message[] = [{ role: 'system', content: 'You answer in one paragraph.' }];
  const sizeOf = (): number => Buffer.byteLength(JSON.stringify(api.body(model, stream, messages)));
  for (let left = bytes - sizeOf(); left > 60; left = bytes - sizeOf()) {
    const content = textOf(Math.min(left, 2_000) - 60, messages.length);
    messages.push({ role: messages.length % 2 === 1 ? 'user' : 'assistant', content });
  }
  if (messages.at(-1)?.role === 'assistant') messages.push({ role: 'user', content: 'Go on.' });
  return JSON.stringify(api.body(model, stream, messages));
}

const TOOL_NAMES = [
  'read_file',
  'write_file',
  'list_directory',
  'search_text',
  'run_command',
  'apply_patch',
  'fetch_page',
  'ask_user',
  'plan_steps',
  'open_issue',
  'query_database',
  'take_screenshot',
] as const;
const CALLS = 15;

/** A tool like those of coding agents: a long description and a nested schema. */
function toolOf(name: string, seed: number): { name: string; description: string; schema: object } {
  return {
    name,
    description: `${textOf(300, seed).trim()} Use it only when the step needs it; prefer small results.`,
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path below the workspace – never absolute.' },
        pattern: { type: 'string', description: 'What to look for, as a regular expression.' },
        limit: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
        options: {
          type: 'object',
          properties: {
            recursive: { type: 'boolean' },
            encoding: { type: 'string', enum: ['utf-8', 'latin1'] },
            exclude: { type: 'array', items: { type: 'string' }, description: 'Folders that are skipped.' },
          },
          additionalProperties: false,
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
  };
}

/**
 * Request of a coding agent in the middle of its work: 12 tools with schemas, and 15 calls with results.
 * @returns JSON of about `bytes` bytes, at least 18,000
 */
export function agentBody(model: string, bytes: number, stream: boolean, api: Api): string {
  const tools = TOOL_NAMES.map(toolOf);
  const bodyWith = (resultBytes: number): string => {
    const turns: ToolTurn[] = Array.from({ length: CALLS }, (_, at) => ({
      text: at % 3 === 0 ? textOf(160, at).trim() : '',
      id: `call_${String(at).padStart(2, '0')}kQ7vXz3mB1tYwR9`,
      name: TOOL_NAMES[at % TOOL_NAMES.length] ?? 'read_file',
      input: { path: `src/pages/section-${at}.ts`, limit: 50, options: { recursive: at % 2 === 0 } },
      result: textOf(resultBytes, at + 3),
    }));
    return JSON.stringify(
      api.agent(model, stream, { system: textOf(1_500, 7), task: textOf(600, 2), tools, turns }),
    );
  };
  const empty = Buffer.byteLength(bodyWith(0));
  // Escaping makes the text a little longer.
  return bodyWith(Math.max(0, Math.floor((bytes - empty) / CALLS / 1.04)));
}
