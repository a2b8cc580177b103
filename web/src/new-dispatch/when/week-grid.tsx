import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { clock, dayName, describeHours } from '../../parts/names/week-hours.ts'
import { useWords } from '../../words/words.ts'
import { allDays } from '../draft.ts'
import styles from '../new-dispatch.module.css'

type Chosen = { hours: number[]; days: number[] }
type Props = Chosen & { onChange(chosen: Chosen): void }
type Cell = { day: number; hour: number }

const allHours = Array.from({ length: 24 }, (_, hour) => hour)
const range = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => Math.min(from, to) + i)
const switched = (list: number[], value: number) =>
  list.includes(value) ? list.filter(one => one !== value) : [...list, value].sort((a, b) => a - b)

const presets = [
  { label: 'new.when.work', days: [1, 2, 3, 4, 5], hours: range(9, 20) },
  { label: 'new.when.daily', days: allDays, hours: range(10, 19) },
  { label: 'new.when.any', days: allDays, hours: allHours },
] as const

/**
 * The hours of the week in which messages may be sent. The APIs have one list of hours and one of days, so a choice is
 * always days times hours. A drag sets both. A day or an hour at the edge switches its row or column.
 */
export function WeekGrid({ hours, days, onChange }: Props) {
  const words = useWords()
  const { say } = words
  const chosen = { hours, days }
  const isSame = (a: readonly number[], b: readonly number[]) => a.join() === b.join()
  return (
    <>
      <div className={styles.chips}>
        {presets.map(preset => (
          <button
            key={preset.label}
            type="button"
            className={styles.chip}
            aria-pressed={isSame(preset.days, days) && isSame(preset.hours, hours)}
            onClick={() => onChange({ days: [...preset.days], hours: [...preset.hours] })}
          >
            {say(preset.label)}
          </button>
        ))}
      </div>
      <Grid {...chosen} onChange={onChange} />
      <Toggles {...chosen} onChange={onChange} />
      <div className={styles.weekFoot}>
        <p>
          <b>{describeHours(words, chosen)}</b>{' '}
          <span className="note">{say('new.when.chosen', { hours: hours.length * days.length })}</span>
        </p>
        <p className="note small only-wide">{say('new.when.keys')}</p>
      </div>
      <p className="note small">{say('new.when.help')}</p>
    </>
  )
}

function Grid(props: Props) {
  const { say } = useWords()
  const choice = useChoice(props)
  const drag = useDrag(choice)
  const { grid, focus, setFocus, onKeyDown } = useKeys(choice)
  return (
    <table
      ref={grid}
      className={`${styles.week} ${styles.onlyWide}`}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its cells are moved through and chosen by keys
      role="grid"
      aria-label={say('new.when.grid')}
      aria-multiselectable="true"
      onKeyDown={onKeyDown}
      onPointerMove={drag.onPointerMove}
      onPointerUp={drag.onPointerUp}
    >
      <thead>
        <HourHeads {...props} />
      </thead>
      <tbody>
        {allDays.map(day => (
          <tr key={day} className={styles.weekRow}>
            <DayHead day={day} {...props} />
            {allHours.map(hour => (
              <HourCell
                key={hour}
                cell={{ day, hour }}
                isOn={choice.isOn({ day, hour })}
                hasFocus={focus.day === day && focus.hour === hour}
                onFocus={setFocus}
                onPress={drag.begin}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Choice = { isOn(cell: Cell): boolean; stretch(from: Cell, to: Cell): void; flip(cell: Cell): void }

function useChoice({ hours, days, onChange }: Props): Choice {
  const isOn = ({ day, hour }: Cell) => days.includes(day) && hours.includes(hour)
  return {
    isOn,
    stretch: (from, to) => onChange({ days: range(from.day, to.day), hours: range(from.hour, to.hour) }),
    /** A cell that is off adds its day and hour. A cell that is on removes its hour. */
    flip: cell => {
      if (isOn(cell)) return onChange({ days, hours: switched(hours, cell.hour) })
      onChange({
        days: days.includes(cell.day) ? days : switched(days, cell.day),
        hours: hours.includes(cell.hour) ? hours : switched(hours, cell.hour),
      })
    },
  }
}

/** A drag over the grid chooses a rectangle. A press without a drag switches one cell. */
function useDrag({ stretch, flip }: Choice) {
  const drag = useRef<{ from: Cell; isDrag: boolean }>(undefined)
  return {
    begin: (from: Cell) => {
      drag.current = { from, isDrag: false }
    },
    onPointerMove: (event: PointerEvent) => {
      const cell = cellAt(event)
      if (!drag.current || !cell) return
      const { from } = drag.current
      if (cell.day === from.day && cell.hour === from.hour && !drag.current.isDrag) return
      drag.current.isDrag = true
      stretch(from, cell)
    },
    onPointerUp: () => {
      if (drag.current && !drag.current.isDrag) flip(drag.current.from)
      drag.current = undefined
    },
  }
}

function cellAt({ clientX, clientY }: PointerEvent): Cell | undefined {
  const found = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-hour]')
  return found ? { day: Number(found.dataset.day), hour: Number(found.dataset.hour) } : undefined
}

const moves: Record<string, Cell> = {
  ArrowUp: { day: -1, hour: 0 },
  ArrowDown: { day: 1, hour: 0 },
  ArrowLeft: { day: 0, hour: -1 },
  ArrowRight: { day: 0, hour: 1 },
}

/** Arrows move the focus, with Shift they choose a rectangle. Space and Enter switch the cell with the focus. */
function useKeys({ stretch, flip }: Choice) {
  const grid = useRef<HTMLTableElement>(null)
  const [focus, setFocus] = useState<Cell>({ day: 1, hour: 9 })
  const anchor = useRef<Cell>(undefined)
  const goTo = (cell: Cell, isStretched: boolean) => {
    anchor.current = isStretched ? (anchor.current ?? focus) : undefined
    if (anchor.current) stretch(anchor.current, cell)
    setFocus(cell)
    grid.current?.querySelector<HTMLElement>(`[data-day="${cell.day}"][data-hour="${cell.hour}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const move = moves[event.key]
    if (event.key === ' ' || event.key === 'Enter') flip(focus)
    else if (move) goTo(movedBy(focus, move), event.shiftKey)
    else return
    event.preventDefault()
  }
  return { grid, focus, setFocus, onKeyDown }
}

const movedBy = (from: Cell, by: Cell): Cell => ({
  day: Math.min(7, Math.max(1, from.day + by.day)),
  hour: Math.min(23, Math.max(0, from.hour + by.hour)),
})

function HourHeads({ hours, days, onChange }: Props) {
  const { say } = useWords()
  return (
    <tr className={styles.weekRow}>
      <th aria-label={say('new.when.days')} />
      {allHours.map(hour => (
        <th key={hour} className={styles.headCell}>
          <button
            type="button"
            tabIndex={-1}
            className={hours.includes(hour) ? styles.on : ''}
            aria-label={say('new.when.hour', { hour: clock(hour) })}
            onClick={() => onChange({ days, hours: switched(hours, hour) })}
          >
            {String(hour).padStart(2, '0')}
          </button>
        </th>
      ))}
    </tr>
  )
}

function DayHead({ day, hours, days, onChange }: Props & { day: number }) {
  const words = useWords()
  return (
    <th className={styles.headCell} scope="row">
      <button
        type="button"
        tabIndex={-1}
        className={days.includes(day) ? styles.on : ''}
        onClick={() => onChange({ hours, days: switched(days, day) })}
      >
        {dayName(words, day)}
      </button>
    </th>
  )
}

type CellProps = { cell: Cell; isOn: boolean; hasFocus: boolean; onFocus(cell: Cell): void; onPress(cell: Cell): void }

function HourCell({ cell, isOn, hasFocus, onFocus, onPress }: CellProps) {
  const words = useWords()
  const { day, hour } = cell
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a cell of a grid can be selected
    <td
      data-day={day}
      data-hour={hour}
      className={`${styles.cell} ${isOn ? styles.on : ''}`}
      aria-selected={isOn}
      aria-label={`${dayName(words, day, 'long')}, ${clock(hour)}`}
      tabIndex={hasFocus ? 0 : -1}
      onFocus={() => onFocus(cell)}
      onPointerDown={event => {
        // The browser sends all events of a touch to its first cell. The grid releases the pointer to get events of
        // other cells.
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          event.currentTarget.releasePointerCapture(event.pointerId)
        onPress(cell)
      }}
    />
  )
}

/** The same choice at 390 pixels: seven days and 24 hours to tap. */
function Toggles({ hours, days, onChange }: Props) {
  const words = useWords()
  const { say } = words
  return (
    <div className={styles.onlyNarrow}>
      <p className="strong small">{say('new.when.days')}</p>
      <div className={styles.seven}>
        {allDays.map(day => (
          <button
            key={day}
            type="button"
            aria-pressed={days.includes(day)}
            onClick={() => onChange({ hours, days: switched(days, day) })}
          >
            {dayName(words, day)}
          </button>
        ))}
      </div>
      <p className="strong small">{say('new.when.hours')}</p>
      <div className={styles.six}>
        {allHours.map(hour => (
          <button
            key={hour}
            type="button"
            aria-pressed={hours.includes(hour)}
            aria-label={say('new.when.hour', { hour: clock(hour) })}
            onClick={() => onChange({ days, hours: switched(hours, hour) })}
          >
            {String(hour).padStart(2, '0')}
          </button>
        ))}
      </div>
    </div>
  )
}
