import { placesIn } from '../../../src/domain/templates/pattern.ts'
import { useWords } from '../words/words.ts'
import styles from './pattern.module.css'

/** The text of a template with its places in words. */
export function PatternText({ pattern }: { pattern: string }) {
  const name = usePlaceName()
  return piecesOf(pattern).map(({ text, isPlace }, i) =>
    isPlace ? (
      <span key={i} className={styles.place} title={text}>
        {name(text)}
      </span>
    ) : (
      text
    ),
  )
}

/** The texts and places of the pattern in their order. */
function piecesOf(pattern: string): { text: string; isPlace: boolean }[] {
  const pieces = []
  let end = 0
  for (const place of placesIn(pattern)) {
    const at = pattern.indexOf(place, end)
    pieces.push({ text: pattern.slice(end, at), isPlace: false }, { text: place, isPlace: true })
    end = at + place.length
  }
  return [...pieces, { text: pattern.slice(end), isPlace: false }]
}

/** `%d{1,6}` as `up to 6 digits`. */
function usePlaceName() {
  const { say } = useWords()
  return (place: string) => {
    const most = Number(/\{1,(\d+)\}/.exec(place)?.[1] ?? 1)
    const isWord = place.startsWith('%w')
    if (!place.includes('{')) return say(isWord ? 'templates.place.word' : 'templates.place.number')
    return say(isWord ? 'templates.place.upToWords' : 'templates.place.upToDigits', { count: most })
  }
}
