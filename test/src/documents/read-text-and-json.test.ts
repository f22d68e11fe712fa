import { describe, expect, it } from 'vitest';
import { passagesOf } from '../../../src/documents/passages.ts';
import { readJson } from '../../../src/documents/read-json.ts';
import { readText } from '../../../src/documents/read-text.ts';
import { atOnce } from '../../support/at-once.ts';

describe('reading plain text', () => {
  it('returns paragraphs, lists with their introduction, and code', () => {
    expect(atOnce(readText('\nOne\ntwo.\n\nTo do:\n- a\n- b\n\nif (x) {\n  y();\n}\n'))).toMatchObject([
      { kind: 'prose', text: 'One\ntwo.', startLine: 2, endLine: 3 },
      { kind: 'list', text: 'To do:\n- a\n- b', startLine: 5, endLine: 7 },
      { kind: 'code', startLine: 9, endLine: 11 },
    ]);
  });
});

describe('reading JSON', () => {
  it('returns the values of an object as one block, under the keys above', () => {
    const json =
      '{\n  "name": "x",\n  "parts": [\n    { "id": 1, "text": "a\\nb" },\n    { "id": 2 }\n  ],\n  "last": null\n}';
    expect(atOnce(readJson(json))).toMatchObject([
      { text: '- name: x\n- last: null', heading: [], lines: [2, 7] },
      { text: '- id: 1\n- text: a\n  b', heading: ['name: x', 'parts', '1'], lines: [4, 4, 4] },
      { text: '- id: 2', heading: ['name: x', 'parts', '2'], startLine: 5 },
    ]);
  });

  it('reads a single value and throws for invalid JSON', () => {
    expect(atOnce(readJson('"hello"'))).toMatchObject([{ text: 'hello', startLine: 1 }]);
    expect(() => atOnce(readJson('{"a": '))).toThrow(SyntaxError);
  });

  it('keeps a record together, and names it above what is too large to be within it', () => {
    const orders = [{ id: 1 }, { id: 2 }];
    const people = [
      { name: 'Ana', address: { city: 'Bergen' }, phone: '111' },
      { id: 7, name: 'Ben', tags: ['a', 'b'], orders, phone: '222' },
    ];
    expect(atOnce(readJson(JSON.stringify({ people })))).toMatchObject([
      { heading: ['people', '1'], text: '- name: Ana\n- address:\n  - city: Bergen\n- phone: 111' },
      { heading: ['people', '2'], text: '- id: 7\n- name: Ben\n- tags:\n  - a\n  - b\n- phone: 222' },
      { heading: ['people', '2', 'name: Ben', 'orders', '1'], text: '- id: 1' },
      { heading: ['people', '2', 'name: Ben', 'orders', '2'], text: '- id: 2' },
    ]);
  });

  it.each([
    ['its own name, even at the top', { orders: [{ id: 1 }], name: 'Ana' }, ['name: Ana', 'orders', '1']],
    [
      'both of its names',
      { first_name: 'Ada', last_name: 'L.', x: [{ id: 1 }] },
      ['first_name: Ada, last_name: L.', 'x', '1'],
    ],
    ['the name in a part of it', [{ age: 3, profile: { name: 'Ana' }, x: [{ id: 1 }] }], ['1', 'name: Ana', 'x', '1']],
    ['its first value', [{ id: 7, x: [{ y: 1 }] }], ['1', 'id: 7', 'x', '1']],
    ['no name', { version: 1, x: [{ y: 1 }] }, ['x', '1']],
  ])('names a record by %s', (_, json, heading) => {
    expect(atOnce(readJson(JSON.stringify(json))).at(-1)?.heading).toEqual(heading);
  });

  it('names the later parts of a long record', () => {
    const values = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key ${at}`, 'some words that fill it']));
    const blocks = atOnce(readJson(JSON.stringify([{ name: 'Zoe', ...values, phone: '999' }])));
    const last = atOnce(passagesOf({ path: 'a.json', blocks })).at(-1);
    expect(last?.text).toContain('phone: 999');
    expect(last?.heading).toContain('name: Zoe');
  });

  it('does not mistake a line of text for a separate JSON value', () => {
    expect(atOnce(readJson('{"a":"x\\n- b: y"}'))[0]?.text).toBe('- a: x\n  - b: y');
  });

  it.each([
    ['{"name":"Ana"}{"name":"Ben"}', ['- name: Ana', '- name: Ben']],
    ['{\n"name": "Ana"\n}\n{\n"name": "Ben"\n}', ['- name: Ana', '- name: Ben']],
    ['\u001E{"name":"Ana"}\n\u001E{"name":"Ben"}', ['- name: Ana', '- name: Ben']],
    ['{"name":"Ana"}\n{"name":"Ben"}\n{"name":"C', ['- {"name":"C', '- name: Ana', '- name: Ben']],
  ])('reads several values: %j', (text, expected) => {
    expect(atOnce(readJson(text)).map((block) => block.text)).toEqual(expected);
  });

  it.each([
    [
      'a first row of names',
      '[["City","Population"],["Oslo",7],["Bergen",null]]',
      ['City: Oslo, Population: 7', 'City: Bergen, Population: null'],
    ],
    [
      'a list of names beside it',
      '{"columns":["name","town"],"data":[["Ana","Oslo"],["Ben","Bergen"]]}',
      ['name: Ana, town: Oslo', 'name: Ben, town: Bergen'],
    ],
    ['nothing that names its columns', '[["red","blue"],["big","small"]]', ['red, blue', 'big, small']],
    ['a list beside it that has no names', '{"tags":["red","blue"],"pairs":[[1,2],[3,4]]}', ['1, 2', '3, 4']],
    [
      'rows of different lengths',
      '[["City","Population"],["Oslo",7,8],["Bergen",9]]',
      ['City, Population', 'Oslo, 7, 8', 'Bergen, 9'],
    ],
  ])('names the values of a list of lists that has %s', (_, json, records) => {
    const blocks = atOnce(readJson(json)).filter(({ heading }) => heading.length > 0);
    expect(blocks.map(({ text }) => text.replace(/^- /, '').replaceAll('\n- ', ', '))).toEqual(records);
  });

  it('reads JSON Lines, one record per line', () => {
    expect(atOnce(readJson('{"name":"Ana"}\n\n{"name":"Ben"}\n'))).toMatchObject([
      { heading: ['1'], text: '- name: Ana', startLine: 1 },
      { heading: ['2'], text: '- name: Ben', startLine: 3 },
    ]);
  });
});
