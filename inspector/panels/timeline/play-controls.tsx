import { SPEEDS, type Speed } from '../../fold/playing.ts';
import { Icon, type IconName } from '../icon.tsx';
import type { Moves } from './moves.ts';
import type { Player } from './player.ts';

interface ControlsProps {
  readonly player: Player;
  readonly moves: Moves;
  readonly usual: Speed;
  readonly isLive: boolean;
}

export function PlayControls({ player, moves, usual, isLive }: ControlsProps) {
  const plays = player.isPlaying.value;
  return (
    <fieldset class="play-controls" aria-label="Playing">
      <IconButton icon="start" name="To the first entry" keys="Home" act={moves.start} />
      <IconButton icon="back" name="One entry back" keys="←" act={() => moves.entry(-1)} />
      <IconButton icon={plays ? 'pause' : 'play'} name={plays ? 'Pause' : 'Play'} keys="Space" act={player.toggle} />
      <IconButton icon="on" name="One entry on" keys="→" act={() => moves.entry(1)} />
      <IconButton icon="end" name={isLive ? 'Follow' : 'To the last entry'} keys="End" act={moves.follow} />
      <select
        aria-label="Speed"
        title="Speed"
        value={player.chosenSpeed.value ?? usual}
        onChange={({ currentTarget }) => player.choose(Number(currentTarget.value) as Speed)}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed < 1 ? `1/${Math.round(1 / speed)}×` : `${speed}×`}
          </option>
        ))}
      </select>
    </fieldset>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly name: string;
  readonly keys: string;
  readonly act: () => void;
}

function IconButton({ icon, name, keys, act }: IconButtonProps) {
  return (
    <button type="button" aria-label={name} title={`${name} (${keys})`} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
