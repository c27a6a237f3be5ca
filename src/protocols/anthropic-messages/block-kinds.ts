// Recognizes content blocks of hosted work, in answers and in requests.

/** True for `…_tool_use` and `…_tool_result` blocks of tools that the upstream runs, and for compaction. */
export function isHosted(type: string): boolean {
  return type.endsWith('_tool_use') || type.endsWith('_tool_result') || type === 'compaction';
}
