// The program that checks one value by one large schema: a `SchemaQuestion` as JSON on file descriptor 0, a `SchemaAnswer`
// on 1. Runs in a process of its own; `schema-check.ts` starts it and bounds its time and memory.
import { readFileSync, writeFileSync } from 'node:fs';
import type { SchemaAnswer, SchemaQuestion } from './schema-answer.ts';
import { compileSchema } from './schema-validator.ts';

function answerTo({ schema, value }: SchemaQuestion): SchemaAnswer {
  try {
    const { unchecked, problemOf } = compileSchema(schema, '');
    return { problem: value === undefined ? null : problemOf(value, ''), unchecked };
  } catch (error) {
    return {
      unusable: error instanceof Error ? error.message.replace(/^.*cannot be used: /, '') : String(error),
    };
  }
}

const question = JSON.parse(readFileSync(0, 'utf8')) as SchemaQuestion;
writeFileSync(1, JSON.stringify(answerTo(question)));
