import { ChipShape, EdgeShape } from './line-shape.tsx';
import { hasInside, type Scene } from './scene.ts';
import { CoverShape, type Hues, StateShape } from './state-shape.tsx';

/** A chart with the charts inside its states: boxes, then lines, then what is inside, then the lids of what is closed. */
export function ChartShapes({
  scene,
  chart,
  hues,
}: {
  readonly scene: Scene;
  readonly chart: number;
  readonly hues: Hues;
}) {
  const own = scene.charts[chart];
  if (own === undefined) return null;
  const states = own.states.flatMap((number) => {
    const state = scene.states[number];
    return state === undefined ? [] : [{ number, state }];
  });
  const lines = own.lines.flatMap((number) => {
    const line = scene.lines[number];
    return line === undefined ? [] : [{ number, line }];
  });
  return (
    <g data-chart={chart} transform={`translate(${own.x} ${own.y}) scale(${own.scale})`}>
      {states.map(({ number, state }) => (
        <StateShape key={number} number={number} state={state} scene={scene} hues={hues} />
      ))}
      {lines.map(({ number, line: { edge, chip } }) => {
        if (edge !== null) return <EdgeShape key={number} number={number} edge={edge} />;
        return chip === null ? null : <ChipShape key={number} number={number} chip={chip} />;
      })}
      {states.map(({ number, state }) =>
        state.inset === null ? null : <ChartShapes key={number} scene={scene} chart={state.inset} hues={hues} />,
      )}
      {states.map(({ number, state }) =>
        hasInside(state) ? <CoverShape key={number} number={number} state={state} /> : null,
      )}
    </g>
  );
}
