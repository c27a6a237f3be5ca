// Function names for tools that are not functions of the client, such as those of MCP servers. The names are valid at every
// upstream and deterministic.

/** Characters that some upstream refuses in a function name, and the longest name that all accept. */
const ILLEGAL = /[^\w-]/g;
const LONGEST_NAME = 64;

/** Function name for a tool of an MCP server, unless another tool of the request already has that name. */
export function mcpFunctionName(label: string, tool: string): string {
  const wanted = `${label}__${tool}`;
  return isLegalFunctionName(wanted) ? wanted : markedFunctionName(wanted, `${label}\n${tool}\n0`);
}

export function isLegalFunctionName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_NAME && name.search(ILLEGAL) < 0;
}

/** The nearest valid name, with a hash of the tool's identity appended. */
export function markedFunctionName(wanted: string, identity: string): string {
  const mark = markOf(identity);
  return `${wanted.replace(ILLEGAL, '_').slice(0, LONGEST_NAME - mark.length - 1)}_${mark}`;
}

/** Two 32-bit FNV-1a hashes (draft-eastlake-fnv) with different offsets, eight hex digits each. */
function markOf(text: string): string {
  return [0x811c9dc5, 0x01000193].map((start) => fnv(text, start).toString(16).padStart(8, '0')).join('');
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
