// How demanding a request is by what it asks for: sixty prompts of every kind, and what people who read them say.
import { expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { estimateComplexity } from '../../../src/engine/routing/complexity.ts';
import { requestFacts } from '../../../src/engine/routing/request-facts.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { decode } from '../../support/select-models.ts';

const PROMPTS: Readonly<Record<'low' | 'medium' | 'high', readonly string[]>> = {
  low: [
    'Hello!',
    'What is the capital of France?',
    'Translate "good morning" into Japanese.',
    'Thanks, that is all.',
    'What time is it in Tokyo when it is noon in Berlin?',
    'Give me three synonyms of happy.',
    'Is 17 a prime number?',
    'Spell "accommodation".',
    'Who wrote Faust?',
    'Summarise this in one sentence: the cat sat on the mat and slept.',
    'Write a haiku about autumn.',
    'Tell me a joke about penguins.',
    'Convert 5 miles to kilometres.',
    'Rewrite politely: send me the file now.',
    'What does SQL stand for?',
    'Wie heißt die Hauptstadt von Österreich?',
    'Quelle heure est-il à Montréal ?',
    '¿Cuántos días tiene febrero?',
    'Привет, как дела?',
    '法国的首都是哪里？',
    'おはようございます。元気ですか。',
    'Is this mail spam? "You have won a prize"',
  ],
  medium: [
    'Write a function in Python that reverses a linked list.',
    'Explain this stack trace and debug it.',
    'Compare PostgreSQL and MySQL for a small shop.',
    'Analyse the causes of the First World War.',
    'What are the trade-offs of working from home?',
    'Write an essay about friendship.',
    'Build a landing page for a bakery.',
    'Write a SQL query that finds customers without orders, and evaluate its speed.',
    'Explain step by step how to change a tyre.',
    'Optimise this loop: for i in range(10): print(i)',
    'Write unit tests for this class, then debug what fails.',
    'What are the pros and cons of nuclear power?',
    'Draft a contract between a tenant and a landlord.',
    'Why does this memory leak only show in production?',
    'Evaluate this argument: all swans that I saw are white, so all swans are white.',
    'Analysiere die Ursachen der Französischen Revolution.',
    'Schreibe eine Funktion, die eine Liste sortiert.',
    'Comparez le romantisme et le réalisme.',
    'Analiza las causas de la inflación.',
    'Сравни два подхода к обучению чтению.',
    '写一个函数来反转字符串。',
    '次の二つの案を比較してください。',
  ],
  high: [
    "Write a proof of Fermat's last theorem.",
    'Prove that the square root of 2 is irrational.',
    'Derive the Black-Scholes equation from first principles.',
    'Design a distributed rate limiter and analyse its failure modes.',
    'Implement a lock-free queue in Rust and argue why it is correct.',
    'Refactor this service into three modules, write unit tests for each, and compare the architecture before and after.',
    'Implement a compiler for a small language in TypeScript.',
    'First analyse this dataset, then design a model, then write a report on the results.',
    'Develop a business plan for a bakery:\n1. analyse the market\n2. compare locations\n3. forecast the costs',
    'Find the race condition in this code, explain the root cause and implement a fix.',
    'Solve this differential equation and interpret the solution: y" + y = sin x',
    'Beweise, dass es unendlich viele Primzahlen gibt. Der Beweis soll ohne Analysis auskommen.',
    'Démontre le théorème de Pythagore.',
    'Demuestra que la suma de dos números pares es par. Da la demostración completa.',
    'Докажи, что корень из двух иррационален.',
    '证明根号二是无理数。',
    '素数が無限に存在することを証明してください。',
  ],
};

const CASES = Object.entries(PROMPTS).flatMap(([expected, prompts]) =>
  prompts.map((prompt) => [prompt, expected] as const),
);

test('sixty prompts are a sufficient sample', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(60);
});

test.each(CASES)('%s', (content, expected) => {
  const body: JsonObject = { model: 'auto', messages: [{ role: 'user', content }] };
  expect(estimateComplexity(requestFacts(decode(body), 0))).toBe(expected as 'low');
});

test('the question is at an edge of a long message, and its search takes time linear in its length', () => {
  const filler = 'lorem ipsum dolor sit amet '.repeat(40_000);
  const content = `${filler}\n\nProve the theorem above.`;
  const body: JsonObject = { model: 'auto', messages: [{ role: 'user', content }] };
  const facts = requestFacts(decode(body), 0);
  const from = usedMs();
  expect(estimateComplexity(facts)).toBe('high');
  expect(usedMs() - from).toBeLessThan(200);
});
