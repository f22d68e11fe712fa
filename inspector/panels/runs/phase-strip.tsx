import { capitalize, PHASE_NAMES } from '../../fold/format.ts';

const STEP_PX = 7;
const HEIGHT_PX = 12;

/** The phases that ran, as colored marks: those with a failure are red and taller. Nothing if they are unknown. */
export function PhaseStrip({ strip }: { readonly strip: string | null | undefined }) {
  if (!strip) return null;
  const marks = [...strip];
  const width = marks.length * STEP_PX;
  const words = marks.map(wordsOf).join(', ');
  return (
    <svg
      class="phase-strip"
      width={width}
      height={HEIGHT_PX}
      viewBox={`0 0 ${width} ${HEIGHT_PX}`}
      role="img"
      aria-label={`Phases: ${words}`}
    >
      <title>{words}</title>
      {marks.map((mark, at) => {
        const hasFailed = mark === '!' || mark !== mark.toLowerCase();
        const x = at * STEP_PX;
        const isLeftOut = mark === '.' || mark === '!';
        const [y, height] = isLeftOut ? [5, 2] : hasFailed ? [0, HEIGHT_PX] : [4, 5];
        return <rect key={x} fill={colorOf(mark, hasFailed)} x={x} y={y} width={5} height={height} rx="1" />;
      })}
    </svg>
  );
}

const phaseOf = (mark: string): string | undefined => PHASE_NAMES.find((phase) => phase.startsWith(mark.toLowerCase()));

function colorOf(mark: string, hasFailed: boolean): string {
  const phase = phaseOf(mark);
  return hasFailed ? 'var(--bad)' : phase === undefined ? 'var(--line-strong)' : `var(--phase-${phase})`;
}

function wordsOf(mark: string): string {
  if (mark === '.') return '…';
  if (mark === '!') return '… (some failed)';
  return `${capitalize(phaseOf(mark) ?? mark)}${mark === mark.toLowerCase() ? '' : ' (failed)'}`;
}
