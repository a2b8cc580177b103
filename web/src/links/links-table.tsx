import { Link } from '@tanstack/react-router'
import { useFormats } from '../format.ts'
import { groupedNumber } from '../messages/names.ts'
import table from '../parts/lists/table.module.css'
import { useWords } from '../words/words.ts'
import styles from './links.module.css'
import type { ShortLink } from './links.ts'

export function LinksTable({ links }: { links: ShortLink[] }) {
  const { say } = useWords()
  return (
    <table className={`${table.table} ${styles.table}`}>
      <thead>
        <tr>
          <th>{say('links.target')}</th>
          <th>{say('links.message')}</th>
          <th>{say('links.dispatch')}</th>
          <th className={table.number}>{say('links.made')}</th>
          <th className={table.number}>{say('links.clicks')}</th>
        </tr>
      </thead>
      <tbody>
        {links.map(link => (
          <Row key={link.code} link={link} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ link }: { link: ShortLink }) {
  const { say } = useWords()
  const { date, time } = useFormats()
  const { code, url, createdAt, dispatchId } = link
  return (
    <tr>
      <td className={table.title}>
        <Link to="." search={before => ({ ...before, open: code })} className={`${table.main} ${styles.target}`}>
          {url.replace(/^https?:\/\//i, '')}
        </Link>
        <span className={`${table.sub} mono`}>{code}</span>
      </td>
      <td data-label={say('links.message')}>
        <MessageOf link={link} />
      </td>
      <td data-label={say('links.dispatch')} className={dispatchId === null ? table.dim : styles.name}>
        {dispatchId === null ? (
          '–'
        ) : (
          <Link to="/dispatches/$dispatchId" params={{ dispatchId }} className="link">
            {link.dispatchName}
          </Link>
        )}
      </td>
      <td data-label={say('links.made')} className={table.number}>
        <time dateTime={createdAt}>
          {date(createdAt)} <span className={table.sub}>{time(createdAt)}</span>
        </time>
      </td>
      <td data-label={say('links.clicks')} className={`${table.number} ${link.clicks > 0 ? table.main : table.dim}`}>
        <ClickCount link={link} />
      </td>
    </tr>
  )
}

/** The message that contains the link. Messages of detached months no longer exist. */
export function MessageOf({ link: { destination, messageUuid } }: { link: ShortLink }) {
  const { say } = useWords()
  if (destination === null) return <span className={table.dim}>{say('links.message.gone')}</span>
  return (
    <Link to="/messages/$uuid" params={{ uuid: messageUuid }} className={`link ${styles.nowrap}`}>
      {groupedNumber(destination)}
    </Link>
  )
}

export function ClickCount({ link: { clicks, isMore } }: { link: ShortLink }) {
  const { say } = useWords()
  const { number } = useFormats()
  return isMore ? say('links.clicks.more', { clicks }) : number(clicks)
}
