// Probes of conversation forms: roles, parts, several instructions, prefilled answers, images, unknown members.
import type { Item, Part, Quirks, Role } from '../../../canonical/index.ts';
import { serverFacts } from '../../../protocols/index.ts';
import { QUESTION_TOKENS, userSays, type Examination } from '../examination.ts';
import { no, unknown, whereVaries, yes, type Probe, type Verdict } from '../probe.ts';
import { isRefused, isUnclear, quoted, rejectedWith, textOf, wordsOf } from '../read-answer.ts';
import type { AskedAnswer } from '../../../engine/index.ts';

const ORDER = 'Answer every message with the single word MARIGOLD and nothing else.';
const SYSTEM = 'system_role';

function says(role: Role, ...texts: readonly string[]): Item {
  return { type: 'message', role, parts: texts.map((text): Part => ({ type: 'text', text })) };
}

function obeyed(answer: AskedAnswer): Verdict {
  if (isRefused(answer)) return no(rejectedWith(answer));
  if (isUnclear(answer)) return unknown(wordsOf(answer));
  return /marigold/i.test(textOf(answer)) && !textOf(answer).includes(ORDER)
    ? yes('the model followed the instruction')
    : no(`accepted, but not followed: ${wordsOf(answer)}`);
}

const systemRole: Probe = {
  id: SYSTEM,
  title: 'follows system instructions',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    return obeyed(
      await examination.ask({
        items: [says('system', ORDER), userSays('Good morning!')],
        quirks: { systemRole: 'system' },
      }),
    );
  },
};

const developerRole: Probe = {
  id: 'developer_role',
  title: 'follows developer role',
  suits: whereVaries('systemRole'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({
      items: [says('developer', ORDER), userSays('Good morning!')],
      quirks: { systemRole: 'developer' },
    });
    const verdict = obeyed(answer);
    const system = examination.outcomes.get(SYSTEM);
    let systemRole: Quirks['systemRole'] | undefined;
    if (verdict.outcome === 'yes' && system === 'yes') systemRole = 'keep';
    else if (verdict.outcome === 'yes' && system === 'no') systemRole = 'developer';
    else if (verdict.outcome === 'no' && (system === 'yes' || isRefused(answer))) systemRole = 'system';
    return systemRole === undefined ? verdict : { ...verdict, facts: { quirks: { systemRole } } };
  },
};

/** Probes a form that is either accepted or rejected. The content of the answer does not matter. */
async function accepted(
  examination: Examination,
  wish: Parameters<Examination['ask']>[0],
  facts: { readonly taken: Partial<Quirks>; readonly refused: Partial<Quirks> },
): Promise<Verdict> {
  const answer = await examination.ask(wish);
  if (isRefused(answer)) return no(rejectedWith(answer), { facts: { quirks: facts.refused } });
  if (answer.failure) return unknown(wordsOf(answer));
  return yes('accepted', { facts: { quirks: facts.taken } });
}

const severalSystem: Probe = {
  id: 'several_instructions',
  title: 'instructions between messages',
  suits: whereVaries('mergeSystem'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: (examination) =>
    accepted(
      examination,
      {
        items: [
          says('system', 'Be brief.'),
          userSays('Good morning!'),
          says('assistant', 'Good morning!'),
          says('system', 'Be polite.'),
          userSays('How are you?'),
        ],
        quirks: { mergeSystem: false },
      },
      { taken: { mergeSystem: false }, refused: { mergeSystem: true } },
    ),
};

const textParts: Probe = {
  id: 'text_parts',
  title: 'text in parts',
  suits: whereVaries('textContent'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: (examination) =>
    accepted(
      examination,
      { items: [says('user', 'Say hello', 'in one word.')], quirks: { textContent: 'parts' } },
      { taken: { textContent: 'parts' }, refused: { textContent: 'string' } },
    ),
};

const unknownMembers: Probe = {
  id: 'unknown_members',
  title: 'accepts unknown parameters',
  suits: whereVaries('unknownFields'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  run: (examination) =>
    accepted(
      examination,
      {
        text: 'Say hello in one word.',
        extra: { dragoman_unknown_member: true },
        quirks: { unknownFields: 'pass' },
      },
      { taken: { unknownFields: 'pass' }, refused: { unknownFields: 'drop' } },
    ),
};

const BEGUN = '1, 2, 3, 4,';
/** A prefill that no new answer would begin with, to recognise servers that repeat it. */
const ODDLY_BEGUN = 'Counting aloud: 1, 2, 3, 4,';
/** Maximum number of ways to continue an answer. */
const MOST_WAYS = 4;

const prefill: Probe = {
  id: 'prefill',
  title: 'continues a partial response',
  suits: whereVaries('prefill'),
  calls: MOST_WAYS,
  tokens: () => MOST_WAYS * QUESTION_TOKENS,
  async run(examination) {
    const { prefill: ways = [] } = serverFacts(examination.endpoint.protocol).varies;
    let isCertain = true;
    let first: string | undefined;
    for (const way of ways) {
      const begun = way === 'prefix' ? ODDLY_BEGUN : BEGUN;
      const answer = await examination.ask({
        items: [userSays('count to 9'), says('assistant', begun)],
        prefill: true,
        quirks: { prefill: way },
      });
      first ??= wordsOf(answer);
      if (isUnclear(answer)) isCertain = false;
      else if (!isRefused(answer) && continues(textOf(answer), way))
        return yes(wordsOf(answer), { value: way, facts: { quirks: { prefill: way } } });
    }
    const words = first ?? '';
    return isCertain ? no(words, { facts: { quirks: { prefill: 'none' } } }) : unknown(words);
  },
};

function continues(text: string, way: Quirks['prefill']): boolean {
  const rest = way === 'prefix' && text.startsWith(ODDLY_BEGUN) ? text.slice(ODDLY_BEGUN.length) : text;
  return /^[\s,]*5\b/.test(rest);
}

/** A red square of 64 × 64 pixels. Some models do not accept smaller images. */
const RED_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC';

const image: Probe = {
  id: 'image_input',
  title: 'sees images',
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const question: Item = {
      type: 'message',
      role: 'user',
      parts: [
        { type: 'text', text: 'Which colour is this picture? Answer in one word.' },
        { type: 'image', media: { kind: 'base64', data: RED_PNG, mediaType: 'image/png' } },
      ],
    };
    const answer = await examination.ask({ items: [question] });
    if (isRefused(answer)) return no(rejectedWith(answer));
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    return /\b(red|scarlet|crimson)\b/i.test(textOf(answer))
      ? yes(`responded "${quoted(textOf(answer))}"`)
      : unknown(`accepted, but not recognised: ${wordsOf(answer)}`);
  },
};

export const conversationProbes: readonly Probe[] = [
  systemRole,
  developerRole,
  severalSystem,
  textParts,
  unknownMembers,
  prefill,
  image,
];
