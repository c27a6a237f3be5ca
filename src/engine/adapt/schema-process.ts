// Program that checks one value against one large schema: reads a `SchemaQuestion` as JSON from file descriptor 0 and
// writes a `SchemaAnswer` to 1. `schema-check.ts` runs it in a separate process with limits on time and memory.
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
