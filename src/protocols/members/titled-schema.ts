// The name of an answer's schema for protocols that have no member for it: the title of the schema. Knows no body.
import type { JsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest, Report } from '../../canonical/index.ts';
import { sharesMembers } from '../openai/shared-members.ts';

/**
 * The schema of the answer, with the name that the client gave it as its title. A title of its own stays, and is reported
 * where it says something else. Other clients' formats have no name but the one that their decoder made.
 */
export function titledSchema(
  { responseFormat: format, protocol }: CanonicalRequest,
  schema: JsonObject,
  report: Report,
): JsonObject {
  if (format?.type !== 'json_schema' || !sharesMembers(protocol, protocol)) return schema;
  const { title } = schema;
  if (title === undefined) return { title: format.name, ...schema };
  if (title !== format.name)
    report.add('response_format.json_schema.name', 'defaulted', 'the title of the schema stands for it');
  return schema;
}
