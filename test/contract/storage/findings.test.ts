// Probe results of endpoints that processes share, through their port.
import { expect, test } from 'bun:test';
import { describePostgres } from './shared-postgres.ts';

const finding = (provider: string, model: string, n: number) => ({
  provider,
  protocol: 'openai-chat',
  model,
  entry: { n },
});

describePostgres((fresh) => {
  test('the latest probe result of an endpoint applies, and every change has a new mark', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const marks = [await two.findings.mark()];
    await one.findings.put([finding('a', 'm', 1), finding('b', 'm', 2), finding('a', 'm', 3)]);
    marks.push(await two.findings.mark());
    expect(await two.findings.all()).toEqual([{ n: 3 }, { n: 2 }]);
    await two.findings.put([]);
    expect(await two.findings.mark()).toBe(marks[1] ?? '');
    await two.findings.put([finding('a', 'm', 4)]);
    marks.push(await one.findings.mark());
    expect(await one.findings.forget('a')).toBe(1);
    marks.push(await two.findings.mark());
    expect(await two.findings.all()).toEqual([{ n: 2 }]);
    expect(await two.findings.forget(undefined)).toBe(1);
    marks.push(await one.findings.mark());
    expect(new Set(marks).size).toBe(marks.length);
    await Promise.all([one.close(), two.close()]);
  });
});
