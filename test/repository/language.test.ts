// The checks of the language find what they name, and nothing else.
import { describe, expect, test } from 'bun:test';
import { commentsWithoutSubject } from '../../contrib/language/comments.ts';
import { refusedNames } from '../../contrib/language/names.ts';
import { longSentences } from '../../contrib/language/sentences.ts';

describe('comments', () => {
  const found = (source: string) => commentsWithoutSubject(source).map(({ line }) => line);

  test('begin with a subject: in lines, in blocks, and after code', () => {
    expect(found('// What nobody reads.\nlet a;')).toEqual([1]);
    expect(found('/** Those that wait. */\nlet a;')).toEqual([1]);
    expect(found('let a;\n/**\n * Where it is.\n */\nlet b;')).toEqual([2]);
    expect(found(`call(); // ${'Without'} an answer.`)).toEqual([1]);
    expect(found('/** Whatsoever. */\n// Queue of requests.')).toEqual([]);
  });

  test('count once, regardless of their later lines', () => {
    expect(found('// Queue of requests.\n// Those that wait.\nlet a;')).toEqual([]);
    expect(found('/**\n * Queue of requests.\n * Those that wait.\n */')).toEqual([]);
  });
});

describe('names', () => {
  test('are refused if they contain a listed word, only in code', () => {
    expect([...refusedNames('const isHeardAt = 1; export const TOLD_MS = 2;')]).toEqual([
      ['isHeardAt', 'heard'],
      ['TOLD_MS', 'told'],
    ]);
    expect(
      refusedNames("// told\n/* told */ const text = 'told' + `told ${'told'} told`; Storyteller;").size,
    ).toBe(0);
  });

  test('are found between the parts of a template', () => {
    expect([...refusedNames('`once ${told} more`').keys()]).toEqual(['told']);
  });
});

describe('sentences', () => {
  const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');

  test('have at most 25 words; code, addresses and cells count as little', () => {
    expect(longSentences(`${words(25)}. ${words(25)}.`)).toEqual([]);
    expect(longSentences(`${words(26)}.`)).toHaveLength(1);
    expect(longSentences(`| ${words(20)} | ${words(20)} |`)).toEqual([]);
    expect(longSentences(`${words(24)} \`a b c d e f\`.`)).toEqual([]);
  });
});
