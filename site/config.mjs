import { readFileSync } from 'node:fs'

// What prepare.mjs has found.
const { sidebar, sidebarZh } = JSON.parse(readFileSync(new URL('../sidebar.json', import.meta.url)))

// Words of both languages, and names with underscores in one piece.
const tokenize = text => Array.from(new Intl.Segmenter('zh', { granularity: 'word' }).segment(text))
    .filter(piece => piece.isWordLike).map(piece => piece.segment)

export default {
    title: 'rdma4j',
    description: 'RDMA for Java, with or without the NIC',
    base: process.env.RDMA4J_SITE_BASE ?? '/',
    // check.mjs looks at what was made, anchors and Javadoc included.
    ignoreDeadLinks: true,
    lastUpdated: false,
    markdown: {
        html: false,
        // The same anchors as where the pages are read as files.
        anchor: {
            slugify: heading => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
        }
    },
    themeConfig: {
        outline: [2, 3],
        // Most pages are there in one language.
        i18nRouting: false,
        search: { provider: 'local', options: { miniSearch: { options: { tokenize } } } }
    },
    locales: {
        root: {
            label: 'English', lang: 'en',
            themeConfig: {
                sidebar,
                nav: [
                    { text: 'Start', link: '/start/' }, { text: 'Course', link: '/course/' },
                    { text: 'How to', link: '/howto/' }, { text: 'Reference', link: '/reference/' },
                    { text: 'Evidence', link: '/evidence/' },
                    { text: 'Javadoc', link: '/api/index.html', target: '_self' }
                ]
            }
        },
        zh: {
            label: '简体中文', lang: 'zh-CN', link: '/zh/',
            themeConfig: {
                sidebar: sidebarZh,
                outline: { level: [2, 3], label: '本页' },
                docFooter: { prev: '上一页', next: '下一页' },
                nav: [
                    { text: '教程', link: sidebarZh[0].link ?? '/course/' },
                    { text: '术语表', link: '/reference/glossary' },
                    { text: 'C 名称对照', link: '/reference/names-of-c' },
                    { text: 'Javadoc', link: '/api/index.html', target: '_self' }
                ]
            }
        }
    }
}
