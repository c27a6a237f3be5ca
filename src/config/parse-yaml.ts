// Text of a YAML file (of which JSON is a part) as plain data. The only file that knows the parser.
import { isMap, parseDocument } from 'yaml';
import { ConfigError } from './config-error.ts';

/**
 * Parses a file that holds keys and values; an empty one holds none.
 * @param path of the key that names the file, for the error; '' for the configuration itself
 * @param example of such a file, for the message
 * @throws ConfigError with line and column
 */
export function parseYaml(text: string, path: string, example: string): Record<string, unknown> {
  const document = parseDocument(text, { merge: true, prettyErrors: true });
  const error = document.errors[0];
  if (error) {
    const at = error.linePos?.[0];
    const where = at ? `line ${at.line}, column ${at.col}: ` : '';
    throw new ConfigError(
      path,
      `${where}${error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? 'not YAML'}`,
    );
  }
  if (document.contents === null) return {};
  if (!isMap(document.contents))
    throw new ConfigError(path, `the file must hold keys and values, such as \`${example}\``);
  return document.toJS() as Record<string, unknown>;
}
