// Names under which models see tools that are not their client's own functions: legal at every upstream, and the same
// whenever and wherever they are made. Pure.

/** Characters that every upstream takes in the name of a function, and how many. */
const ILLEGAL = /[^\w-]/g;
const LONGEST_NAME = 64;

/** The function for a tool of an MCP server, as far as no other tool of the request has that name. */
export function mcpFunctionName(label: string, tool: string): string {
  const wanted = `${label}__${tool}`;
  return isLegalFunctionName(wanted) ? wanted : markedFunctionName(wanted, `${label}\n${tool}\n0`);
}

export function isLegalFunctionName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_NAME && name.search(ILLEGAL) < 0;
}

/** The nearest legal name, with a mark of what it stands for. @param identity of what is named */
export function markedFunctionName(wanted: string, identity: string): string {
  const mark = markOf(identity);
  return `${wanted.replace(ILLEGAL, '_').slice(0, LONGEST_NAME - mark.length - 1)}_${mark}`;
}

/** FNV-1a of 32 bits (RFC draft-eastlake-fnv), twice from different starts: eight hexadecimal digits of each. */
function markOf(text: string): string {
  return [0x811c9dc5, 0x01000193].map((start) => fnv(text, start).toString(16).padStart(8, '0')).join('');
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
