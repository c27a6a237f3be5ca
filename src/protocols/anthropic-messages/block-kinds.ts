// Which content blocks are the upstream's own work. The same question for blocks of answers and for those that a
// client gives back.

/** Tools that the upstream runs come as `…_tool_use` and `…_tool_result` blocks; compaction is its work too. */
export function isHosted(type: string): boolean {
  return type.endsWith('_tool_use') || type.endsWith('_tool_result') || type === 'compaction';
}
