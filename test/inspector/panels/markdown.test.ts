import { expect, it } from 'vitest';
import { plainMarkdown } from '../../../inspector/panels/markdown.tsx';

it('shows the cells of a table in one line, also after other text', () => {
  const table = '| event | content | | --- | --- | | guard | holds |';
  expect(plainMarkdown(table, 200)).toBe('event – content – guard – holds');
  expect(plainMarkdown(`2 insights · ${table}`, 200)).toBe('2 insights · event – content – guard – holds');
  expect(plainMarkdown('a | b', 200)).toBe('a | b');
});
