/** Data items that `@dha-team/arbundles` 1.0.4 signed, with their entries in a gateway's index. Data is in base64url. */
export const FOREIGN_ITEMS = [
  {
    name: 'Arweave (RSA)',
    id: 'Av7faeX_fIq781lxn1MZxIInjhKrXunVA--ki36Z344',
    data: 'YSBmaWxlIG9mIGEgdXNlcg',
    node: {
      id: 'Av7faeX_fIq781lxn1MZxIInjhKrXunVA--ki36Z344',
      anchor: 'TWF0aC5hcHQnZWQgd2VhbHRoeSBOYXJhIGFiY2RlZmc',
      signature:
        'jIJMl3Fb2ZX4H40pwfbCCx087rW5vg0r9NZgVrfTci669Yd0UR4awnlkZ3F9YeFa_9zAE02ZbAE0z_TbO7S-ZeXIlMdWNPKzcBAfkv4u3DDx87_zDNrne93ksXTNrLgeF311TtWDFbDULFHKcxvu2lN2e1Z-ziOPIHE259lvuCoTPAMLlfWvTp6KIS8XlzPV1LVkZOgNNAoKtKHbFuCDxgHx5Tl2vxtdEKRGvk37QG7298RxlDP4rHJqu10GCRxN1Sw6uF9Itt0so6EE-zPIftGAqkkhtd6AHwOA22guxJ2gNaY7lRvWigQn9Ys11v57W1G-c8HUUcYbCFzxAJe3lqls8yOP1b7YSaVpi2s5aZX0CSIciZvPr8FxErRN5QhfAoh1sxbL5iymAx5Y_IpRpM7KpSSluWvYRw7LcJeP2magvnU-bEFTAIzHctyR_lX7lFi_S_S6kY7XOB8zTQgLOoWA5zft7GLnOXaoAqMefQdAfS73tF1pRBaxE8OLas0z6-XWOWLfWlRjcHQtHoeUND2VCc3VTFHu3aZ_FCrWFYs-abF8031w-ScfU1Flt7C87zgcRIX5w_XBHrUy-jcBKTLpgBhobZVH2Xo1yWHaKiRBDxEHMWxsTxKmukjzoC2m0-yaPRP_60ynLHlzCG1zxC_P02YQOZcgruB7DD76ANI',
      recipient: 'OXcT1sVRSA5eGwt2k6Yuz8-3e3g9WJi5uSE99CWqsBs',
      owner: {
        key: '1HSe1U65aJhwIRDvtzy05a_lzdqv7vdlEjeSiw9D2XhG800S7WlpMcOJk0dHQTOweRUFws0k0K_1o_muoDDJCubmfR8LBSxrxPbXX8otzr7GwJuErFhuV0DNZakmCbSl3Vxn4-uI3_C2A7nVqI3wVJtOuOCtfa0rBhQPZrCqfLTj02_uieH2rxW9a23X4svvPzQpzhXpx9Hq9kPXAZVnqUB4zz70SnsOi-OVVE6OxOAvNRqJrbf4zV_ymcs6g0Q2X0aFGDIawF48zvfTAaOW2Oz195aLpiovMFpsid3nBE4FPAHwyjkGYmhGP0LtXafqZUTHV5aMTYPlK2RHdWXgdtayXaKxX1tpsNtm-pJ7cSPVtnGfl9k8pX5Pf3qNf1pCwmMg_tfAWm2E7qJVJfwdm8deKwfkuEUmrnqwtGPosdvKl5LFrxsDZcSQDi2GBUC0oBOuABmO5JkZ0fDrza5Z-Bz5rSdYaR_sYrBjDzWuJf4ksXKx2mC2BtMh9xi7XR_MJYQibx_boDV9jQKVqDPx7y_dYIdo0-OWayN6qGivZmy1kZC6x9Sw8olYAcAP8X0bYrb2W1IUYzMgxaFYDdXjVDPbv-mpFbHGPc98AolPcJS_VWPYY4vPNfcKWwegzTCZ8ZgOKS2LG7_dliOP9IDwmakanAoEOGx-0HN6OhjOmeM',
      },
      tags: [
        {
          name: 'Content-Type',
          value: 'text/plain',
        },
        {
          name: 'Title',
          value: 'ü👩',
        },
      ],
    },
  },
  {
    name: 'Solana (Ed25519)',
    id: '-nCyz8HcWPFD_TwmnlJq6niiOCBetzm42V3ntnuZpqU',
    data: 'bm8gdGFncw',
    node: {
      id: '-nCyz8HcWPFD_TwmnlJq6niiOCBetzm42V3ntnuZpqU',
      anchor: '',
      signature: 'kMh7z8xqtkKwh5sqYf8FLBfm1R0rYiI8XcwGbnRRys8YtaWHJ3HH110jeKXH1UvTGRAVDUj9Ao45UkMW_3J_Dw',
      recipient: '',
      owner: {
        key: 'gOi-MJ7ofAH84VDtakh2ZsuhrRxhZL0X5br3Gh0RkHg',
      },
      tags: [],
    },
  },
  {
    name: 'Ethereum',
    id: 'bWimMV9CkrThbYntsHaTPP5x1100VMC41IkhT_CMGek',
    data: 'eyJhIjoxfQ',
    node: {
      id: 'bWimMV9CkrThbYntsHaTPP5x1100VMC41IkhT_CMGek',
      anchor: '',
      signature: 'DZkrwXY4H-DvETXs628kCWPvhZJlbkKf8aAgC3bBayMM3bEtlPseUxO0oLfBl_cUoDcE6iCqIHeMRs96APSruRs',
      recipient: '',
      owner: {
        key: 'BDYEgp7viqrRq2EqmyBzLM9jnP1Kd7cL0GMkyO9czyiXc487et8tRoZtrMWCKF98gmrqrDcSwz6VP3-Jn_0r8LI',
      },
      tags: [
        {
          name: 'content-type',
          value: 'application/json; charset=utf-8',
        },
      ],
    },
  },
  {
    name: "Solana's wallets",
    id: '1Ky202XtFVYqxRW4s_Tjp5nyeJZcX_sVPyg0LfttIy8',
    data: 'AAEC_w',
    node: {
      id: '1Ky202XtFVYqxRW4s_Tjp5nyeJZcX_sVPyg0LfttIy8',
      anchor: '',
      signature: 'XaTGGXmPxihLJ5lhgFBZL08etjh-h3f-cWqDMp2q96gWhNBwD9yKnY-ilZMy6NKVb5dZAeClkuapLksX-uFfAg',
      recipient: '',
      owner: {
        key: 'gOi-MJ7ofAH84VDtakh2ZsuhrRxhZL0X5br3Gh0RkHg',
      },
      tags: [
        {
          name: 'n0',
          value: 'v',
        },
        {
          name: 'n1',
          value: 'vv',
        },
        {
          name: 'n2',
          value: 'vvv',
        },
        {
          name: 'n3',
          value: 'vvvv',
        },
        {
          name: 'n4',
          value: 'vvvvv',
        },
        {
          name: 'n5',
          value: 'vvvvvv',
        },
        {
          name: 'n6',
          value: 'vvvvvvv',
        },
        {
          name: 'n7',
          value: 'vvvvvvvv',
        },
        {
          name: 'n8',
          value: 'vvvvvvvvv',
        },
        {
          name: 'n9',
          value: 'vvvvvvvvvv',
        },
        {
          name: 'n10',
          value: 'vvvvvvvvvvv',
        },
        {
          name: 'n11',
          value: 'vvvvvvvvvvvv',
        },
        {
          name: 'n12',
          value: 'vvvvvvvvvvvvv',
        },
        {
          name: 'n13',
          value: 'vvvvvvvvvvvvvv',
        },
        {
          name: 'n14',
          value: 'vvvvvvvvvvvvvvv',
        },
        {
          name: 'n15',
          value: 'vvvvvvvvvvvvvvvv',
        },
        {
          name: 'n16',
          value: 'vvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n17',
          value: 'vvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n18',
          value: 'vvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n19',
          value: 'vvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n20',
          value: 'vvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n21',
          value: 'vvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n22',
          value: 'vvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n23',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n24',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n25',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n26',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n27',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n28',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n29',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n30',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n31',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n32',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n33',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n34',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n35',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n36',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n37',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n38',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
        {
          name: 'n39',
          value: 'vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv',
        },
      ],
    },
  },
] as const;
