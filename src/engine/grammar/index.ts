// Grammars of custom tools and patterns of schemas. Pure, synchronous and bounded.
export {
  checkInput,
  CompiledCache,
  compileGrammar,
  compilePattern,
  type Grammar,
  inputBudget,
} from './compile-grammar.ts';
export type { Budget } from './recognise.ts';
export { grammarCapacity, type Room } from './machine.ts';
