import { describe, expect, it } from 'vitest';
import { createMachine, fromPromise } from 'xstate';
import { machinesByName } from '../../../../src/chain/machines.ts';
import { chartOf } from '../../../../src/durable/charts/chart.ts';
import { mermaid } from '../../../../src/durable/charts/mermaid.ts';
import { NAUGHTY_STRINGS } from '../../../support/hostile-input.ts';

describe('a chart as a Mermaid diagram', () => {
  it('draws compound states as boxes, merges edges, and dashes those of external events', () => {
    const machine = createMachine({
      id: 'door',
      initial: 'closed',
      states: {
        closed: {
          initial: 'locked',
          states: { locked: { on: { key: 'shut' } }, shut: {} },
          on: { push: 'open', wind: 'open', fire: 'gone' },
        },
        open: { always: { guard: 'isLate', target: 'gone' }, after: { rest: 'closed' } },
        gone: { type: 'final' },
      },
      after: { night: '.gone' },
    });
    expect(mermaid(chartOf(machine)).split('\n').slice(1)).toEqual([
      'flowchart TD',
      '  subgraph door_closed ["closed"]',
      '    door_closed_locked["<b>locked</b>"]',
      '    door_closed_shut["<b>shut</b>"]',
      '    door_closed_anywhere{{"<i>anywhere in here</i><br/><small>fire → gone</small>"}}',
      '  end',
      '  door_open["<b>open</b>"]',
      '  door_gone(["<b>gone</b>"])',
      '  door_anywhere{{"<i>anywhere in here</i><br/><small>after night → gone</small>"}}',
      '  begin((" "))',
      '  begin --> door_closed_locked',
      '  door_closed_locked -.->|"key"| door_closed_shut',
      '  door_open -.->|"after rest"| door_closed',
      '  door_open -->|"isLate"| door_gone',
      '  door_closed -.->|"push<br/>wind"| door_open',
      '',
    ]);
  });

  it('draws machines that are parallel, have no states, or have no plain names', () => {
    const parallel = createMachine({
      id: 'm',
      type: 'parallel',
      states: { a: { initial: 'x', states: { x: {} } }, b: { on: { 'say "<hi>"': { target: '#m.a.x' } } } },
    });
    expect(mermaid(chartOf(parallel)).split('\n').slice(2)).toEqual([
      '  subgraph m_a ["a"]',
      '    m_a_x["<b>x</b>"]',
      '  end',
      '  m_b["<b>b</b>"]',
      '  begin((" "))',
      '  begin --> m_a',
      '  begin --> m_b',
      '  m_b -.->|"say #quot;#lt;hi#gt;#quot;"| m_a_x',
      '',
    ]);
    expect(
      mermaid(chartOf(createMachine({ id: 'm' })))
        .split('\n')
        .slice(2),
    ).toEqual(['  begin((" "))', '']);
  });

  it.each(
    Object.values(NAUGHTY_STRINGS)
      .flat()
      .filter((name) => name !== '__proto__'),
  )('shows %j as text', (name) => {
    const states = { a: { on: { [`${name}$$#lt;`]: '#x' } }, [name]: { id: 'x' } };
    const [, , ...lines] = mermaid(chartOf(createMachine({ id: 'm', initial: 'a', states }))).split('\n');
    expect(lines).toHaveLength(6);
    // Within one pair of quotes, a name adds no tag, Markdown, formula or control character, and its entities are ours.
    for (const line of lines)
      expect(line.replace(/<\/?b>/gu, '')).toMatch(/^[^"<`$\\]*(?:"[^"<>`$\\\p{Cc}]*"[^"<`$\\]*)?$/u);
    for (const [entity] of lines.join('').matchAll(/#[^;]*;?/gu)) expect(entity).toMatch(/^#(?:\d+|quot|lt|gt);$/u);
  });

  it('gives every state a unique id that Mermaid accepts', () => {
    const machine = createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a: { initial: 'b', states: { b: { on: { go: 'anywhere' } }, anywhere: {} }, on: { stop: '#end' } },
        'a b': {},
        a_b: { on: { go: 'ended' } },
        ended: { id: 'end' },
        begun: { id: 'begin' },
      },
    });
    expect(mermaid(chartOf(machine)).split('\n').slice(2, -1)).toEqual([
      '  subgraph m_a ["a"]',
      '    m_a_b["<b>b</b>"]',
      '    m_a_anywhere["<b>anywhere</b>"]',
      '    m_a_anywhere_{{"<i>anywhere in here</i><br/><small>stop → ended</small>"}}',
      '  end',
      '  m_a_b_["<b>a b</b>"]',
      '  m_a_b__["<b>a_b</b>"]',
      '  end_["<b>ended</b>"]',
      '  begin_["<b>begun</b>"]',
      '  begin((" "))',
      '  begin --> m_a_b',
      '  m_a_b -.->|"go"| m_a_anywhere',
      '  m_a_b__ -.->|"go"| end_',
    ]);
  });

  it('names the actors that a state invokes; inline ones by their id or that of their machine', () => {
    const logic = fromPromise(async () => {});
    const src = createMachine({ id: 'child' });
    const machine = createMachine({
      invoke: [{ src: 'named' }, { src: logic }, { src: logic, id: 'own' }, { src }, { src, id: 'other' }],
    });
    expect(chartOf(machine).states[0]?.invokes).toEqual(['named', 'inline', 'own', 'child', 'other']);
  });

  it.each(Object.keys(machinesByName))(
    'of the %s machine contains every state, and every transition to another state',
    (name) => {
      const machine = machinesByName[name];
      if (machine === undefined) throw new Error(name);
      const chart = chartOf(machine);
      const picture = mermaid(chart);
      for (const state of chart.states.slice(1)) expect(picture).toContain(state.name);
      for (const { guard, target } of chart.transitions)
        if (guard !== null && target.length > 0) expect(picture).toContain(guard);
    },
  );

  it('with a depth limit counts deeper states as their ancestors', () => {
    const { chain } = machinesByName;
    if (chain === undefined) throw new Error('no chain');
    expect(mermaid(chartOf(chain), { depth: 1 })).not.toContain('experience');
    expect(mermaid(chartOf(chain), { depth: 2 })).not.toContain('searching');
    expect(mermaid(chartOf(chain), { depth: 3 })).toContain('searching');
  });
});
