import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { row } from '../row.mjs';
import { alarmsOfGraph } from './graph.mjs';
import { requirements } from './requirements.mjs';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} kind Of the fault.
 * @property {string} file
 * @property {{ sound: any, faulty: any }} machines
 *
 * @typedef {(one: Case, variant: 'sound' | 'faulty') => Promise<readonly string[]>} Detector Returns its alarms.
 */

/** Looks for the planted faults of the machines with `lint`, with one stated property, and with `xstate/graph`. */
export async function measureMachines() {
  const cases = await readCases();
  const client = new Client({ name: 'bench', version: '1' });
  const args = [here('../../dist/cli.js'), 'mcp', '--machines', '--root', here('cases')];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  /** @type {Record<string, Detector>} */
  const detectors = {
    'lint, no options': (one, variant) => alarmsOfTool(client, 'lint', one, variant, {}),
    'check, one stated property': (one, variant) =>
      alarmsOfTool(client, 'check', one, variant, { properties: [requirements[one.name]] }),
    'xstate/graph, states without a path': async ({ machines }, variant) => alarmsOfGraph(machines[variant]),
  };
  const rows = [];
  /** @type {Record<string, string>} */
  const facts = { machines: `${cases.length}, each with and without its fault` };
  try {
    for (const [name, detect] of Object.entries(detectors)) {
      const { found, alarmed, byKind } = await measured(cases, detect);
      rows.push(
        row(`${name}: faults found`, [found.length / cases.length], 'share'),
        row(`${name}: false alarms`, [alarmed.length / cases.length], 'share'),
      );
      facts[`${name}: found by kind`] = byKind;
      facts[`${name}: missed`] = namesOf(cases.filter((one) => !found.includes(one)));
      facts[`${name}: false alarms`] = namesOf(alarmed);
    }
  } finally {
    await client.close();
  }
  return { title: 'planted faults in XState machines', rows, facts };
}

/** @returns {Promise<readonly Case[]>} */
async function readCases() {
  const files = readdirSync(here('cases')).filter((name) => name !== 'both.mjs');
  const cases = await Promise.all(
    files.map(async (file) => {
      const module = await import(new URL(`cases/${file}`, import.meta.url).href);
      const names = Object.keys(module).filter((name) => !name.endsWith('Faulty'));
      return names.map((name) => ({
        name,
        kind: file.replace('.mjs', ''),
        file,
        machines: { sound: module[name], faulty: module[`${name}Faulty`] },
      }));
    }),
  );
  return cases.flat();
}

/**
 * A fault is found if the faulty machine has an alarm that the sound one does not have.
 *
 * @param {readonly Case[]} cases
 * @param {Detector} detect
 */
async function measured(cases, detect) {
  const found = [];
  const alarmed = [];
  for (const one of cases) {
    const onSound = await detect(one, 'sound');
    const onFaulty = await detect(one, 'faulty');
    if (onSound.length > 0) alarmed.push(one);
    const isNew = onFaulty.some((alarm) => !onSound.includes(alarm));
    if (isNew) found.push(one);
    if (process.env['BENCH_ALARMS']) process.stderr.write(`${one.name}: ${JSON.stringify({ onSound, onFaulty })}\n`);
  }
  const kinds = [...new Set(cases.map(({ kind }) => kind))];
  const countOf = (/** @type {string} */ kind) =>
    `${kind} ${found.filter((one) => one.kind === kind).length}/${cases.filter((one) => one.kind === kind).length}`;
  return { found, alarmed, byKind: kinds.map(countOf).join(', ') };
}

/**
 * @param {Client} client
 * @param {'lint' | 'check'} tool
 * @param {Case} one
 * @param {'sound' | 'faulty'} variant
 * @param {object} options
 */
async function alarmsOfTool(client, tool, { name, file }, variant, options) {
  const selected = `${file}#${name}${variant === 'faulty' ? 'Faulty' : ''}`;
  const result = /** @type {any} */ (await client.callTool({ name: tool, arguments: { file: selected, ...options } }));
  if (result.isError) return [result.content[0].text];
  return result.structuredContent.findings
    .filter((/** @type {any} */ { holds }) => !holds)
    .map((/** @type {any} */ { property, what }) => `${property}: ${what}`);
}

const namesOf = (/** @type {readonly Case[]} */ cases) => cases.map(({ name }) => name).join(', ') || 'none';
